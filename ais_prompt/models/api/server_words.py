"""Read the words of servers: why an answer ended, why a request was refused, and what to do then.

`ended` gives a completion its finish reason. `http_failure` and `reported_failure` make the failure of an error, whose
cause `cause_of` finds in its words. `read_retry_after` says when to ask again. `address_hint` and `option_hint` tell
what to change in the config.

Sources of the finish reasons: the API references of OpenAI (chat, completions, Responses), Anthropic, Google (Gemini,
also through its OpenAI-compatible endpoint), Amazon Bedrock, Cohere, DeepSeek, Mistral, Zhipu and OpenRouter, and the
code of vLLM, SGLang, TGI and Ollama.

Sources of the errors: the error codes and messages in the documents of OpenAI, Azure, Anthropic, Google, Amazon
Bedrock, DeepSeek, Alibaba (DashScope), Zhipu, Moonshot, OpenRouter, GitHub Models, Groq, xAI and Cohere, and in the
code of vLLM, SGLang, TGI, llama.cpp, Ollama, LMDeploy, TensorRT-LLM and MindIE.
"""

from __future__ import annotations

import json
import logging
import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from ais_prompt.models.api.wire import BadBody, fields_of, read_json, text_of
from ais_prompt.terminal import ONCE
from ais_prompt.types import Completion, Failure
from ais_prompt.utils import SYSTEM_FIX, late, refuses_system

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
            answer counts as whole with the reason ``unknown``; calls of tools without a reason have ``tool_calls``.
    """
    word = reason.strip().lower() if isinstance(reason, str) else ""
    if word in _WHOLE:
        return replace(completion, finish_reason="stop")
    if word in _CUT:
        return replace(completion, finish_reason="length")
    if word in _FILTERED:
        what = "the server's content filter withheld the answer, or cut it"
        return Completion(usage=completion.usage, failure=Failure(CONTENT_FILTER, what))
    if word in _BROKEN:
        what = f"the server broke the answer off, with the finish reason {reason!r}"
        return Completion(usage=completion.usage, failure=Failure(BROKEN, what))
    if word in _CALLS or (completion.tool_calls and not word):
        return replace(completion, finish_reason="tool_calls")
    if word:
        what = "the finish reason %r of the server is not known; its answers count as whole"
        logger.warning(what, reason, extra={ONCE: f"finish reason {word}"})
    return replace(completion, finish_reason="unknown")


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


_PAYMENT_REQUIRED: Final = 402
_TOO_LARGE: Final = 413
_FATAL_STATUS: Final = {401, 403, 404}
"""A wrong key, a forbidden or an unknown model: the same for every request."""
_TOO_LONG_STATUS: Final = {400, 413, 422, 500}
"""Limits on all requests together have other statuses; their messages speak of tokens and lengths as well."""
_ERROR_STATUS: Final = late("[45][0-9]{2}")


def http_failure(status: int, body: bytes) -> Failure:
    """Return the failure of an HTTP error, with the server's message in full length."""
    words = server_words(body) or f"status {status} without a message"
    cause = {_PAYMENT_REQUIRED: QUOTA, _TOO_LARGE: TOO_LONG}.get(status) or cause_of(_decoded(body))
    if cause and (cause != TOO_LONG or status in _TOO_LONG_STATUS):
        return Failure(cause, words)
    return Failure(f"http_{status}", words, fatal=status in _FATAL_STATUS)


def reported_failure(reply: Any) -> Failure | None:
    """Return the failure that a reply with a good status, or an event of a stream, reports instead of an answer.

    Gateways put the error of the server behind them there, with its HTTP status as ``code``. None if there is no error,
    or one without a known cause.
    """
    fields = fields_of(reply)
    error = fields.get("error") or (fields if "error" in (fields.get("object"), fields.get("type")) else None)
    if not error:
        return None
    body = json.dumps({"error": error}).encode()
    codes = [str(fields_of(error).get(name)) for name in ("code", "status", "status_code")]
    if code := next(filter(_ERROR_STATUS.fullmatch, codes), None):
        return http_failure(int(code), body)
    cause = cause_of(_decoded(body))
    return Failure(cause, server_words(body)) if cause else None


def server_words(body: bytes) -> str:
    """Return the error message in a body: ``error.message`` as in OpenAI, ``message``, ``detail``; else all of it.

    FastAPI lists the faults of a request there; each has a place and a message.
    """
    try:
        value = read_json(body)
    except BadBody:
        value = None
    while isinstance(value, dict):
        value = next((value[name] for name in ("error", "message", "detail") if value.get(name)), None)
    if isinstance(value, list) and all(text_of(fields_of(fault).get("msg")) for fault in value):
        value = "; ".join(f"{'.'.join(map(str, fault.get('loc') or ()))}: {fault['msg']}" for fault in value)
    words = value if isinstance(value, str) else body.decode("utf-8", "replace")
    return words.strip()


def _decoded(body: bytes) -> str:
    """Return a body as text, with the characters that JSON may write as escapes."""
    try:
        return json.dumps(read_json(body), ensure_ascii=False)
    except BadBody:
        return body.decode("utf-8", "replace")


def read_retry_after(header: str | None, date: str | None) -> float | None:
    """Parse a ``Retry-After`` header into seconds (RFC 9110, 10.2.3); None if it is missing or invalid.

    It is a number or a date. A date in the past is 0.

    Args:
        header: the ``Retry-After`` header.
        date: the ``Date`` header of the same reply, from which a date counts: the clocks of two machines differ.
            Without this header it counts from the clock of this machine.
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        sent = _moment(date or "") or datetime.now(UTC)
        moment = _moment(header)
        seconds = math.nan if moment is None else (moment - sent).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _moment(date: str) -> datetime | None:
    """Return the time of an HTTP date; None if it is not a date."""
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC)  # "-0000" gives no zone; HTTP dates are in UTC


ENDPOINTS: Final = {
    "chat/completions": "OpenAIChatModel",
    "completions": "OpenAICompletionModel",
    "responses": "OpenAIResponsesModel",
    "messages": "AnthropicModel",
}
"""Path of an endpoint → the model that speaks to it."""


def address_hint(url: str, asked: str, title: str) -> str:
    """Return a hint for an address that a server answered with 404 or 405; empty if the address looks right.

    Args:
        url: of the request, which ends with the path of the endpoint.
        asked: the path of the endpoint.
        title: the name of its API.
    """
    base = urlsplit(url).path.removesuffix(f"/{asked}")
    for path, model in ENDPOINTS.items():
        if base.endswith(f"/{path}"):
            use = "" if path == asked else f", and only {model} speaks to it"
            return f"base_url must end before /{path}{use}"
    if not base:
        return "base_url has no path, most servers want /v1 at its end"
    if asked in ("responses", "messages"):
        return f"the server may not have {title}, most have Chat Completions (OpenAIChatModel)"
    return ""


_LIMIT: Final = late(r"\bmax_(completion_|new_|output_)?tokens\b")
_UNKNOWN: Final = late(
    r"unsupported|not supported|unrecognized|unknown|unexpected|not permitted|not allowed|forbidden|deprecated",
    re.IGNORECASE,
)
_REFUSED: Final = late(
    rf"{_UNKNOWN.pattern}|does not support|invalid|must|should|cannot|only|range|may not|at (least|most)|reached",
    re.IGNORECASE,
)
_OPTIONS: Final = {
    "temperature": "generation_kwargs=dict(temperature=None) sends none and leaves the default of the server",
    "top_p": "generation_kwargs=dict(top_p=None) sends none and leaves the default of the server",
    "top_k": "remove top_k from generation_kwargs",
    "seed": "generation_kwargs=dict(seed=None) sends none",
    "stop": "remove stop_words of the model and stopping_criteria of the dataset",
    "stop_sequences": "remove stop_words of the model and stopping_criteria of the dataset",
    "chat_template_kwargs": "remove chat_template_kwargs",
    "stream_options": "write stream=False",
}
"""Field of a body → what to write in the config if a server refuses it."""


def option_hint(error: str) -> str:
    """Return which option to change if a server refuses a request because of it; empty for other errors.

    Args:
        error: the message of the server.
    """
    if refuses_system(error):
        return SYSTEM_FIX
    if not _REFUSED.search(error):
        return ""
    if limit := _LIMIT.search(error):
        if not _UNKNOWN.search(error):
            return "set another max_out_len"
        other = "max_completion_tokens" if limit[0] == "max_tokens" else "max_tokens"
        return f"set max_tokens_field={other!r}"
    for field, advice in _OPTIONS.items():
        # In quotes, in a path, or as the subject of a sentence: "stop" is a word as well.
        if re.search(rf"""['"`.]{field}\b|\b{field}['"`: ]+(is|must|should|may|can|cannot|does|and)\b""", error):
            return advice
    return ""
