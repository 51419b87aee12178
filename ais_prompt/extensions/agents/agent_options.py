"""Options that every agent takes, see `ais_prompt.extensions.agents.agent_base.Agent`."""

from __future__ import annotations

from typing import TypedDict

from ais_prompt.postprocess import ToolFormat


class AgentOptions(TypedDict, total=False):
    """Names and types of the options.

    Attributes:
        version: tells the agent from its earlier and later versions; answers of another version are not reused.
        max_concurrency: samples at the same time. How many requests the model gets at a time is its own option.
        max_steps, max_tokens_total, max_cost, timeout: limits of a sample: requests to the model, tokens of all of
            them, their cost, seconds. Which one was reached is the failure of the sample.
        needs_calls: whether a sample without any request to the model fails.
        parser: how a local model writes calls of tools: ``hermes``, ``qwen``, ``llama3`` or ``mistral``.
        port: of the proxy; 0 for any that is free.
        max_out_len: is not passed on; the agent decides how long its answers are.
    """

    version: str | int | None
    max_concurrency: int
    max_steps: int
    max_tokens_total: int | None
    max_cost: float | None
    timeout: float
    needs_calls: bool
    parser: ToolFormat | None
    port: int
    max_out_len: int
