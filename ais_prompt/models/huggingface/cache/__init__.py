"""Compute common beginnings of prompts once: caches of keys and values."""
