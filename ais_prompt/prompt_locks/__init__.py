"""Prompt locks: what the prompts of a config were, in a small file, and what became of them."""
