"""Prompt locks: record the prompts of a config in a small file, and show how they have changed since."""
