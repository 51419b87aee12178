"""Benchmarks with cards: get their data, make their rows; RULER, function calls, instructions."""
