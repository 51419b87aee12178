"""ais_prompt: evaluate language models from Python configs; see every prompt, trust every score."""

__version__ = "0.1.0"
