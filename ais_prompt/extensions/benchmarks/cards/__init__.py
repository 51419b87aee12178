"""Benchmarks with a card: from the publisher's files to rows with our columns, and back to a table of a run."""
