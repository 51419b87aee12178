"""The wire format of OpenAI-compatible servers: requests to JSON bodies, replies to completions. Nothing is sent.

Source: the API reference of OpenAI, "Chat Completions" and "Completions", as other servers follow it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.models.options import MaxTokensField
from ais_prompt.types import (
    ChatMessage,
    Completion,
    Decoding,
    Failure,
    FinishReason,
    Prompt,
    Request,
    Usage,
    prompt_to_json,
)
from ais_prompt.utils.media import FILE_NOTE, KINDS, MediaFile, local_file

_FINISH_REASONS: Final[Mapping[Any, FinishReason]] = {"stop": "stop", "length": "length"}
CONTENT_FILTER: Final = "content_filter"
"""The finish reason, and the error code, of an answer that the server's content filter withheld or cut."""
QUOTA: Final = "quota"
"""The account may ask nothing more: the run is paused."""
_PAYMENT_REQUIRED: Final = 402
_WITHOUT_QUOTA: Final = re.compile(rb'"(code|type)"\s*:\s*"(insufficient_quota|billing_hard_limit_reached)"')
"""Error codes of OpenAI, which other servers use too: https://platform.openai.com/docs/guides/error-codes."""
_FATAL_STATUS: Final = {401, 403, 404}
"""A wrong key, a forbidden or an unknown model: the same for every request."""

_FILTERED: Final = re.compile(rb'"code"\s*:\s*"content_filter"')
_MOST_TOKENS: Final = 2**53
"""A larger number is not a count of tokens."""

_TOO_LONG_STATUS: Final = {400, 413, 422}
_TOO_LONG: Final = re.compile(
    r"context_length_exceeded|context (length|window|size)|too many tokens|(prompt|input) is too long"
    r"|reduce the length|must be <= \d+ tokens|max_model_len",
    re.IGNORECASE,
)


class BadBody(ValueError):
    """A reply is not in the form of an answer."""


class Endpoint(Struct, frozen=True):
    """One of the two endpoints of a server.

    Attributes:
        path: path below the base URL.
        prompt_name: the field of the body that holds the prompt.
        prompt_value: prompt → value of that field; raises `PromptError` if the endpoint cannot take the prompt.
        choice_text: a choice of the reply → its text; raises `BadBody` if there is none.
    """

    path: str
    prompt_name: str
    prompt_value: Callable[[Prompt], str | list[dict[str, Any]]]
    choice_text: Callable[[Mapping[str, Any]], str]


def request_body(endpoint: Endpoint, model: str, request: Request, max_tokens_field: MaxTokensField) -> dict[str, Any]:
    """Return the body of a request as plain JSON values. Options that are None are left out, local files put in.

    Raises:
        PromptError: messages for an endpoint that takes a text.
        DataError: a local file in the prompt cannot be read.
    """
    decoding = request.decoding
    assert isinstance(decoding, Decoding)
    # Repeats of a prompt must draw different answers, so each has its own seed.
    seed = None if decoding.seed is None else decoding.seed + request.repeat
    options = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "seed": seed,
        "stop": list(decoding.stop) or None,
        "stop_token_ids": list(decoding.stop_tokens) or None,  # a field of vLLM and SGLang
    }
    return {
        "model": model,
        endpoint.prompt_name: endpoint.prompt_value(embed_files(request.prompt)),
        max_tokens_field: decoding.max_out_len,
        **{name: value for name, value in options.items() if value is not None},
        **decoding.extra,
    }


def read_reply(endpoint: Endpoint, status: int, body: bytes) -> Completion:
    """Read the answer or the failure of a reply. Messages are in full length and not yet redacted."""
    if not 200 <= status < 300:
        return Completion(failure=http_failure(status, body))
    try:
        return _answer(endpoint, read_json(body))
    except BadBody as error:
        words = server_words(body)
        return Completion(failure=Failure("bad_body", f"{error}: {words}" if words else str(error)))


def _messages(prompt: Prompt) -> str | list[dict[str, Any]]:
    return prompt_to_json((ChatMessage("user", prompt),) if isinstance(prompt, str) else prompt)


def _chat_text(choice: Mapping[str, Any]) -> str:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BadBody("the choice has no message")
    content = message.get("content")
    if content is None:  # a tool call, or the tokens ran out while the model was still reasoning
        return ""
    if isinstance(content, list):
        return "".join(_text(part.get("text", "")) for part in content if isinstance(part, dict))
    return _text(content)


def _only_text(prompt: Prompt) -> str:
    if not isinstance(prompt, str):
        raise PromptError("OpenAICompletionModel takes text, not messages", fix="use OpenAIChatModel for messages")
    return prompt


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadBody("the choice has no text")
    return value


CHAT: Final = Endpoint("chat/completions", "messages", _messages, _chat_text)
COMPLETIONS: Final = Endpoint("completions", "prompt", _only_text, lambda choice: _text(choice.get("text")))


def _answer(endpoint: Endpoint, reply: Any) -> Completion:
    if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list):
        raise BadBody("the reply has no choices")
    if not reply["choices"]:
        return Completion(failure=Failure("empty_choices", "the server sent no choice at all"))
    choice = first_choice(reply["choices"])
    if not isinstance(choice, dict):
        raise BadBody("the choice is no object")
    text, message = endpoint.choice_text(choice), choice.get("message")
    return completion_of(
        text, refusal_of(message), choice.get("finish_reason"), reply.get("usage"), reasoning_of(message)
    )


def completion_of(text: str, refusal: str, finish_reason: Any, usage: Any, reasoning: str) -> Completion:
    """Make the completion of a reply, streamed or not.

    Args:
        text: the answer.
        refusal: the text with which the model refuses to answer; it is the answer if there is no other.
        finish_reason, usage: as in the reply.
        reasoning: the reasoning before the answer.
    """
    if finish_reason == CONTENT_FILTER:
        failure = Failure(CONTENT_FILTER, "the server's content filter withheld the answer, or cut it")
        return Completion(usage=usage_of(usage), failure=failure)
    return Completion(
        text or refusal,
        finish_reason_of(finish_reason),
        usage_of(usage),
        reasoning=reasoning,
        refused=bool(refusal),
    )


def first_choice(choices: list[Any]) -> Any:
    """Return the choice with the index 0; the first choice if none has it."""
    numbered = (choice for choice in choices if isinstance(choice, dict) and choice.get("index") == 0)
    return next(numbered, choices[0])


def refusal_of(message: Any) -> str:
    """Return OpenAI's field ``refusal`` of a message; empty without one."""
    refusal = message.get("refusal") if isinstance(message, dict) else None
    return refusal if isinstance(refusal, str) else ""


def finish_reason_of(reason: Any) -> FinishReason:
    """Return the finish reason of a choice."""
    return _FINISH_REASONS.get(reason, "unknown") if isinstance(reason, str) else "unknown"


def reasoning_of(message: Any) -> str:
    """Return the reasoning of a message, in the field of DeepSeek and vLLM, or that of OpenRouter."""
    fields = message if isinstance(message, dict) else {}
    reasoning = fields.get("reasoning_content") or fields.get("reasoning")
    return reasoning if isinstance(reasoning, str) else ""


def usage_of(usage: Any) -> Usage:
    """Return the token counts of a reply."""
    counts = usage if isinstance(usage, dict) else {}
    return Usage(_count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None


def http_failure(status: int, body: bytes) -> Failure:
    """Return the failure of an HTTP error, with the server's message in full length."""
    words = server_words(body)
    if status in _TOO_LONG_STATUS and _TOO_LONG.search(body.decode("utf-8", "replace")):
        return Failure("too_long", words)
    if status == _PAYMENT_REQUIRED or _WITHOUT_QUOTA.search(body):
        return Failure(QUOTA, words or f"status {status} without a message")
    if _FILTERED.search(body):
        return Failure(CONTENT_FILTER, words)
    return Failure(f"http_{status}", words or f"status {status} without a message", fatal=status in _FATAL_STATUS)


def server_words(body: bytes) -> str:
    """Return the error message in a body: ``error.message`` as in OpenAI, ``message``, ``detail``; else all of it."""
    try:
        value = read_json(body)
    except BadBody:
        value = None
    while isinstance(value, dict):
        value = next((value[name] for name in ("error", "message", "detail") if value.get(name)), None)
    words = value if isinstance(value, str) else body.decode("utf-8", "replace")
    return words.strip()


def read_json(body: bytes) -> Any:
    """Parse a body.

    Raises:
        BadBody: it is not JSON.
    """
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(body)  # four times as fast, but refuses lone surrogates, NaN and UTF-16
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise BadBody("the reply is not JSON") from None


def embed_files(prompt: Prompt) -> Prompt:
    """Put every local file into the prompt, as a ``data:`` URL or the base64 of an ``input_audio`` part.

    Raises:
        DataError: a file can no longer be read.
    """
    return prompt if isinstance(prompt, str) else tuple(map(_message, prompt))


def _message(message: ChatMessage) -> ChatMessage:
    if isinstance(message.content, str):
        return message
    return replace(message, content=tuple(map(_part, message.content)))


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = str(part.get("type"))
    if kind not in KINDS:
        return part
    body = part[kind]
    # Servers want the URL in a mapping; templates may also have it as a text.
    fields = dict(body) if isinstance(body, Mapping) else {"url": body}
    file = local_file(part)
    if file is not None:
        fields |= _embedded(file, kind)
    return {**{key: value for key, value in part.items() if key != FILE_NOTE}, kind: fields}


def _embedded(file: MediaFile, kind: str) -> dict[str, str]:
    if kind == "input_audio":
        return {"data": file.base64(), "format": file.extension}
    return {"url": f"data:{file.mime};base64,{file.base64()}"}
