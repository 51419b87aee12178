"""Read replies: their values, failures and messages; and put local files into prompts. Nothing is sent here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ais_prompt.models.api.causes import QUOTA, TOO_LONG, cause_of
from ais_prompt.types import ChatMessage, Completion, Failure, Prompt
from ais_prompt.utils.media import FILE_NOTE, KINDS, MediaFile, local_file

_PAYMENT_REQUIRED: Final = 402
_TOO_LARGE: Final = 413
_FATAL_STATUS: Final = {401, 403, 404}
"""A wrong key, a forbidden or an unknown model: the same for every request."""
_TOO_LONG_STATUS: Final = {400, 413, 422, 500}
"""Limits on all requests together have other statuses; their messages speak of tokens and lengths as well."""
_ERROR_STATUS: Final = re.compile("[45][0-9]{2}")
_MOST_TOKENS: Final = 2**53
"""A larger number is not a count of tokens."""


class BadBody(ValueError):
    """A reply is not in the form of an answer."""


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


def token_count(value: Any) -> int | None:
    """Return a number of tokens in a reply; None if the value is not one."""
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None


def fields_of(value: Any) -> dict[str, Any]:
    """Return a part of a reply that should be an object; empty if it is something else."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """Return a part of a reply that should be a text; empty if it is something else."""
    return value if isinstance(value, str) else ""


def cut_at_stop(completion: Completion, stops: tuple[str, ...]) -> Completion:
    """End a text before its first stop text, for servers that do not do so themselves."""
    ends = [place for stop in stops if (place := completion.text.find(stop)) >= 0]
    return replace(completion, text=completion.text[: min(ends)], finish_reason="stop") if ends else completion


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
