"""A mock server for tests of your own parts: OpenAI-compatible, scripted, with faults on request."""
