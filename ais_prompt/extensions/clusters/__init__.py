"""Slurm and Ray start the shards of a run; partitioners divide its tasks among them."""
