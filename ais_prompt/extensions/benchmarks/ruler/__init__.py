"""Prompts of a given number of tokens: the tasks of RULER and needles in a haystack, made from a seed."""
