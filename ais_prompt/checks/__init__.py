"""Everything that looks at a config before a model is asked: faults, warnings, leaks, and what scoring needs."""
