"""Why a server refuses a request, in its own words: the prompt is too long or filtered, or the quota is used up.

Sources: the error codes and messages in the documents of OpenAI, Azure, Anthropic, Google, Amazon Bedrock, DeepSeek,
Alibaba (DashScope), Zhipu, Moonshot, OpenRouter, GitHub Models, Groq, xAI and Cohere, and in the code of vLLM, SGLang,
TGI, llama.cpp, Ollama, LMDeploy, TensorRT-LLM and MindIE.
"""

from __future__ import annotations

import re
from typing import Final

CONTENT_FILTER: Final = "content_filter"
"""The finish reason, and the error code, of an answer that the server's content filter withheld or cut."""
QUOTA: Final = "quota"
"""The account may ask nothing more: the run is paused."""
TOO_LONG: Final = "too_long"
"""The prompt, or prompt and answer together, have more tokens than the model or the server takes."""

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
