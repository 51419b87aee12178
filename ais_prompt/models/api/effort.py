"""One name of the effort of thinking for all APIs: ``generation_kwargs=dict(reasoning_effort=...)``.

It is a level (``low``, ``medium``, ``high``, or another that the API knows; ``none`` for no thinking), or a number of
tokens for the thoughts; 0 is none. What an API has no word for is refused where it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.models.model_options import TEMPLATE_VARIABLES

EFFORT: Final = "reasoning_effort"
_BUDGETS: Final = {"minimal": 1024, "low": 1024, "medium": 2048, "high": 4096}
_LEAST_BUDGET: Final = 1024


def chat_effort(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for chat completions.

    A level is sent as it is. Source: the API reference of OpenAI, "Chat Completions", ``reasoning_effort``, which vLLM
    and SGLang have too (https://docs.vllm.ai, "OpenAI-Compatible Server"; https://docs.sglang.ai, "OpenAI APIs").

    A number of tokens goes to the chat template of a server such as vLLM or SGLang: ``enable_thinking`` of Qwen3
    (https://qwen.readthedocs.io, "vLLM", "Thinking & Non-Thinking Modes") and ``thinking_budget`` of Seed-OSS
    (https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct, "Thinking Budget"). A template that knows neither
    ignores them; OpenAI itself refuses the field.
    """
    found = dict(extra)
    if not _is_number(found.get(EFFORT)):
        return found
    tokens = found.pop(EFFORT)
    variables = {"enable_thinking": tokens > 0, **({"thinking_budget": tokens} if tokens > 0 else {})}
    return {**found, TEMPLATE_VARIABLES: {**variables, **(found.get(TEMPLATE_VARIABLES) or {})}}


def response_effort(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for the Responses API.

    Source: the API reference of OpenAI, "Responses", ``reasoning.effort``.

    Raises:
        PromptError: the effort is a number of tokens, for which the API has no field.
    """
    found = dict(extra)
    if (effort := found.pop(EFFORT, None)) is None:
        return found
    if _is_number(effort) and effort > 0:
        what = f"the Responses API has no budget of {effort} tokens for thoughts"
        raise PromptError(what, fix=f"write {EFFORT}='low', 'medium' or 'high'")
    level = "none" if _is_number(effort) else effort
    return {**found, "reasoning": {"effort": level, **found.get("reasoning", {})}}


def message_effort(extra: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """Return the fields of a body for the Messages API.

    The API has a budget of tokens, at least 1,024 and less than ``max_tokens``, which counts thoughts too. Source: the
    documentation of Anthropic, "Extended thinking", ``thinking.budget_tokens``. Levels are the budgets that LiteLLM
    gives them (https://docs.litellm.ai, "Anthropic", "reasoning_effort"): 1,024, 2,048 and 4,096.

    Args:
        extra: the fields of the config; its own ``thinking`` comes first.
        max_tokens: of the request.

    Raises:
        PromptError: the level is not known, or the budget is outside of these limits.
    """
    found = dict(extra)
    if (effort := found.pop(EFFORT, None)) is None or "thinking" in found:
        return found
    if effort == "none" or (_is_number(effort) and effort == 0):
        return {**found, "thinking": {"type": "disabled"}}
    budget = effort if _is_number(effort) else _BUDGETS.get(effort)
    if budget is None:
        fix = f"write one of {', '.join(_BUDGETS)}, none, or a number of tokens"
        raise PromptError(f"the Messages API has no budget for {EFFORT}={effort!r}", fix=fix)
    if budget < _LEAST_BUDGET:
        what = f"the Messages API takes no budget of {budget} tokens for thoughts"
        raise PromptError(what, fix=f"give at least {_LEAST_BUDGET}, or 0 for no thoughts")
    if budget >= max_tokens:
        what = f"thoughts may take {budget} tokens, and thoughts and answer together {max_tokens}"
        raise PromptError(what, fix=f"set max_out_len above {budget}")
    return {**found, "thinking": {"type": "enabled", "budget_tokens": budget}}


def _is_number(effort: Any) -> bool:
    return isinstance(effort, int) and not isinstance(effort, bool)
