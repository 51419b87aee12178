"""Metrics and their aggregation: pure functions, each with its source."""
