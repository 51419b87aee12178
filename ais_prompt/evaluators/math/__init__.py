"""Accuracy by mathematical equivalence."""
