"""From a loaded config to a frozen RunSpec; every fault is reported at once."""
