"""Logs of other tools: one reader a format, and the run folder that is made of a log."""
