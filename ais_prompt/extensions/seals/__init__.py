"""Sealed evidence: a run in one file, and what can be verified of it without its model."""
