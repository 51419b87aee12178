"""What all wire formats share: reading JSON and the parts of a reply, and putting local files into a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ais_prompt.types import ChatMessage, Prompt
from ais_prompt.utils import FILE_NOTE, KINDS, checked_levels, local_file


class BadBody(ValueError):
    """A reply is not in the form of an answer."""


_MOST_TOKENS: Final = 2**53
"""A larger number is not a count of tokens."""
EFFORT: Final = "reasoning_effort"
"""One name of the effort of thinking for all APIs: ``generation_kwargs=dict(reasoning_effort=...)``.

It is a level (``low``, ``medium``, ``high``, or another that the API knows; ``none`` for no thinking), or a number of
tokens for the thoughts; 0 is none. What an API has no word for is refused where it is sent.
"""


def read_json(body: bytes) -> Any:
    """Parse a body.

    Raises:
        BadBody: it is not JSON, or is nested too deep.
    """
    try:
        try:
            value = msgspec.json.decode(body)  # four times as fast, but refuses lone surrogates, NaN and UTF-16
        except (ValueError, RecursionError):
            value = json.loads(body)
        return checked_levels(value, body)
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


def is_effort_number(effort: Any) -> bool:
    """Return whether an effort of thinking is a number of tokens, and not a level."""
    return isinstance(effort, int) and not isinstance(effort, bool)


def as_messages(prompt: Prompt) -> tuple[ChatMessage, ...]:
    """Return a prompt as messages; a text becomes a message of the user."""
    return (ChatMessage("user", prompt),) if isinstance(prompt, str) else prompt


def embed_files(prompt: Prompt) -> Prompt:
    """Put every local file into the prompt, as a ``data:`` URL or the base64 of an ``input_audio`` part.

    Raises:
        DataError: a file can no longer be read.
    """
    if isinstance(prompt, str):
        return prompt
    return tuple(
        message if isinstance(message.content, str) else replace(message, content=tuple(map(_part, message.content)))
        for message in prompt
    )


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = str(part.get("type"))
    if kind not in KINDS:
        return part
    body = part[kind]
    # Servers want the URL in a mapping; templates may also have it as a text.
    fields = dict(body) if isinstance(body, Mapping) else {"url": body}
    file = local_file(part)
    if file is not None and kind == "input_audio":
        fields |= {"data": file.base64(), "format": file.extension}
    elif file is not None:
        fields["url"] = f"data:{file.mime};base64,{file.base64()}"
    return {**{key: value for key, value in part.items() if key != FILE_NOTE}, kind: fields}
