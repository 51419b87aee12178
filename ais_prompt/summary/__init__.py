"""Rows of scores with intervals, averages and pivots, as values."""
