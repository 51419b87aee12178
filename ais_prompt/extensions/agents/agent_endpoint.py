"""Where an agent asks its model."""

from __future__ import annotations

from typing import Final, NamedTuple

HOST: Final = "127.0.0.1"
SAMPLE_HEADER: Final = "X-Aisprompt-Sample"
"""Has the token of the sample, where the key of the agent's client is fixed."""


class AgentEndpoint(NamedTuple):
    """What an agent needs to ask its model.

    Attributes:
        base_url: for clients of OpenAI's APIs.
        anthropic_base_url: for clients of Anthropic's API.
        api_key: the token of the sample, for both.
        model: a name for the model; every other name means the same.
        sample_id: of the sample.
    """

    base_url: str
    anthropic_base_url: str
    api_key: str
    model: str
    sample_id: str

    def environment(self) -> dict[str, str]:
        """Return the variables by which clients find the proxy."""
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_BASE": self.base_url,
            "OPENAI_API_KEY": self.api_key,
            "ANTHROPIC_BASE_URL": self.anthropic_base_url,
            "ANTHROPIC_API_KEY": self.api_key,
            "AISPROMPT_MODEL": self.model,
            "AISPROMPT_SAMPLE": self.sample_id,
        }
