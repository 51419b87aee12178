"""Options that every agent takes, see `ais_prompt.extensions.agents.agent_base.Agent`."""

from __future__ import annotations

from typing import TypedDict

from ais_prompt.postprocess import ToolFormat


class AgentOptions(TypedDict, total=False):
    """Names and types of the options."""

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
