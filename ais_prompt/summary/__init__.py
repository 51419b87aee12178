"""Rows of scores with intervals and averages, as values."""
