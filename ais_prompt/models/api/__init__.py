"""The base of all models behind an API: addresses, keys, traffic, retries, streams."""
