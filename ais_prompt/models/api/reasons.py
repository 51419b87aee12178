"""Read the words of servers: why an answer ended, and why a request was refused.

Sources of the finish reasons: the API references of OpenAI (chat, completions, Responses), Anthropic, Google (Gemini,
also through its OpenAI-compatible endpoint), Amazon Bedrock, Cohere, DeepSeek, Mistral, Zhipu and OpenRouter, and the
code of vLLM, SGLang, TGI and Ollama.

Sources of the errors: the error codes and messages in the documents of OpenAI, Azure, Anthropic, Google, Amazon
Bedrock, DeepSeek, Alibaba (DashScope), Zhipu, Moonshot, OpenRouter, GitHub Models, Groq, xAI and Cohere, and in the
code of vLLM, SGLang, TGI, llama.cpp, Ollama, LMDeploy, TensorRT-LLM and MindIE.
"""

from __future__ import annotations

import logging
import re
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.types import Completion, Failure
from ais_prompt.utils import ONCE

logger = logging.getLogger(__name__)
CONTENT_FILTER: Final = "content_filter"
"""The finish reason, and the error code, of an answer that the server's content filter withheld or cut."""
QUOTA: Final = "quota"
"""The account may ask nothing more: the run is paused."""
TOO_LONG: Final = "too_long"
"""The prompt, or prompt and answer together, have more tokens than the model or the server takes."""
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
"""The model calls tools and waits for their results."""
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
            answer counts as whole with the reason ``unknown``; calls of tools without one have ``tool_calls``.
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
    if word in _CALLS or (completion.tool_calls and not word):
        return replace(completion, finish_reason="tool_calls")
    if word:
        what = "the finish reason %r of the server is not known; its answers count as whole"
        logger.warning(what, reason, extra={ONCE: f"finish reason {word}"})
    return replace(completion, finish_reason="unknown")


def filtered() -> Failure:
    """Return the failure of an answer that the content filter of the server withheld."""
    return Failure(CONTENT_FILTER, "the server's content filter withheld the answer, or cut it")


_SUBJECT: Final = r"(prompt|input|inputs|message|messages|request|request body|content|query|sequence|text)"
_CAUSES: Final = {
    QUOTA: (
        r'"(code|type)"\s*:\s*"(insufficient_quota|billing_hard_limit_reached|billing_error)"',
        r"credit balance is too low",
    ),
    CONTENT_FILTER: (
        r'"(code|type)"\s*:\s*"(content_filter|content_policy_violation|moderation_blocked)"',
        r"data_?inspection_?failed|content exists risk|input was flagged|sensitive content|content management policy",
        r"considered high risk|敏感内容|不安全",
    ),
    TOO_LONG: (
        # codes
        r"context_length_exceeded|exceed_context_size|ContextWindowExceeded|request_too_large|tokens_limit_reached",
        r"string_above_max_length|max_model_len|max_?seq_?len|session_len|max_?input_?(token_?)?len",
        # the limit is named: maximum context length, max prompt length, range of input length
        r"context (length|window|size|limit)",
        r"max(imum)? (allowed )?(prompt|input|model|sequence) (length|size|characters|tokens)",
        r"input length should be|expected maxLength",
        # the prompt is said to be too long
        rf"\b{_SUBJECT}( \w+)?( \([^)]*\))?( is| are| was)? (too (long|large|big)|(longer|larger|greater) than)",
        r"too many (input |prompt )?tokens|(reduce|shorten) (the |your )?(length|size|prompt|input|message)",
        # a number of tokens is more than it may be
        r"\binputs?`?[^.:]{0,40} must (have less than|be <=)|max_tokens must be at least 1, got -",
        r"\b(prompt|input|token|request|length)s?\b[^.]{0,80}\bexceed|\bexceed\w* [^.]{0,60}\b(token|context|length)",
        r"(输入|上下文|提示词?|文本|消息|长度|prompt|tokens?)[^。]{0,30}(过长|超长|超过|超出)",
    ),
}
_PATTERNS: Final = {cause: re.compile("|".join(patterns), re.IGNORECASE) for cause, patterns in _CAUSES.items()}


def cause_of(error: str) -> str | None:
    """Return the kind of failure that an error of a server names; None if it is none of these.

    Args:
        error: the body of the error.
    """
    return next((cause for cause, pattern in _PATTERNS.items() if pattern.search(error)), None)
