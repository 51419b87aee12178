"""Judges: models that rate answers. Ask them, read their verdicts, compare several."""
