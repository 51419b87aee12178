"""What all models behind an API share: addresses, keys, traffic, retries, streams. A wire format is a small module."""
