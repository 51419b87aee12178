"""Caches of keys and values: compute common beginnings of prompts once."""
