"""Wire formats of servers: OpenAI, Anthropic, Triton."""
