"""Why an answer ended, in the words of each server.

Sources: the API references of OpenAI (chat, completions,
Responses), Anthropic, Google (Gemini, also through its OpenAI-compatible endpoint), Amazon Bedrock, Cohere, DeepSeek,
Mistral, Zhipu and OpenRouter, and the code of vLLM, SGLang, TGI and Ollama.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.models.api.causes import CONTENT_FILTER
from ais_prompt.types import Completion, Failure
from ais_prompt.utils.log_once import ONCE

logger = logging.getLogger(__name__)

BROKEN: Final = "broken_answer"

_WHOLE: Final = frozenset(
    [
        *("stop", "completed"),  # OpenAI; "completed" is a status of Responses
        *("end_turn", "stop_sequence", "refusal"),  # Anthropic, Bedrock
        "complete",  # Cohere
        *("eos", "eos_token"),  # Together, TGI
        "done",
    ]
)
_CALLS: Final = frozenset(["tool_calls", "function_call", "tool_use", "tool_call"])
"""The model calls tools and waits for their results: ``unknown``, since the answer is yet to come."""
_CUT: Final = frozenset(
    [
        *("length", "max_output_tokens"),  # OpenAI
        *("max_tokens", "model_context_window_exceeded", "pause_turn"),  # Anthropic, Gemini, Cohere
        *("model_length", "context_length", "token_limit"),  # Mistral, others
    ]
)
_FILTERED: Final = frozenset(
    [
        *("content_filter", "content_filtered", "guardrail_intervened"),  # OpenAI, Bedrock
        *("safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety", "language"),  # Gemini
        "sensitive",  # Zhipu
        "error_toxic",  # Cohere
    ]
)
_BROKEN: Final = frozenset(
    [
        *(
            "error",
            "failed",
            "cancelled",
            "canceled",
            "in_progress",
            "queued",
            "incomplete",
        ),  # OpenAI, OpenRouter, Mistral
        *("abort", "aborted", "preempted"),  # vLLM, SGLang
        "insufficient_system_resource",  # DeepSeek
        "network_error",  # Zhipu
        *("other", "malformed_function_call", "unexpected_tool_call", "finish_reason_unspecified"),  # Gemini
        *("error_limit", "user_cancel", "timeout"),  # Cohere
        *("load", "unload"),  # Ollama
    ]
)


def ended(completion: Completion, reason: Any) -> Completion:
    """Return a completion with its finish reason: an answer, a cut one, or the failure of one that broke off.

    Args:
        completion: what came back.
        reason: as the server wrote it, in any case. Without one, or with one that is not known, which is logged, the
            answer counts as whole with the reason ``unknown``.
    """
    word = reason.strip().lower() if isinstance(reason, str) else ""
    if word in _WHOLE:
        return replace(completion, finish_reason="stop")
    if word in _CUT:
        return replace(completion, finish_reason="length")
    if word in _FILTERED:
        return Completion(usage=completion.usage, failure=filtered())
    if word in _BROKEN:
        what = f"the server broke the answer off, with the finish reason {reason!r}"
        return Completion(usage=completion.usage, failure=Failure(BROKEN, what))
    if word and word not in _CALLS:
        what = "the finish reason %r of the server is not known; its answers count as whole"
        logger.warning(what, reason, extra={ONCE: f"finish reason {word}"})
    return replace(completion, finish_reason="unknown")


def filtered() -> Failure:
    """Return the failure of an answer that the content filter of the server withheld."""
    return Failure(CONTENT_FILTER, "the server's content filter withheld the answer, or cut it")
