"""Compare runs and decide: differences and their causes, baselines, gates."""
