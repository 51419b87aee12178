"""Rate limits, retries and outages of one server."""
