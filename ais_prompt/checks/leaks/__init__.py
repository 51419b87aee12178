"""Prove that prompts do not hold their gold answers, and search for what gives golds away."""
