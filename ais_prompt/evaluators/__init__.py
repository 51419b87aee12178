"""Answer × gold → score."""
