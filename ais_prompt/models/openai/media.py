"""Media parts as an OpenAI-compatible server takes them: files of this machine go along with the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ais_prompt.types import ChatMessage, Prompt
from ais_prompt.utils.media import FILE_NOTE, KINDS, MediaFile, local_file


def embed_files(prompt: Prompt) -> Prompt:
    """The prompt with every local file in it, as a ``data:`` URL or the base64 of an ``input_audio`` part.

    Raises:
        DataError: a file cannot be read any more.
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
