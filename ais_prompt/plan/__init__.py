"""From a config to built parts, and every check before the first request."""
