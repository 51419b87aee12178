"""The prompt of a request: what the model sees after the chat format was applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

Content: TypeAlias = str | tuple[Mapping[str, Any], ...]
"""The content of a message: text, or parts in OpenAI form (text, image_url, ...)."""


class ChatMessage(Struct, frozen=True, repr_omit_defaults=True):
    """One message in OpenAI form.

    Attributes:
        role: ``system``, ``user``, ``assistant``, ``tool``, or another role that the meta template names.
        content: the text, or parts in OpenAI form.
        extra: all other keys, sent as they are: ``name``, ``tool_calls``, ``tool_call_id``, ``reasoning``. It has
            ``content`` only where the content is null, beside calls of tools.
    """

    role: str
    content: Content
    extra: Mapping[str, Any] = {}


Prompt: TypeAlias = str | tuple[ChatMessage, ...]
"""A prompt as it is sent: one text, or messages."""

Prompts: TypeAlias = Prompt | tuple[Prompt, ...]
"""One prompt, or the prompts of a dialogue in the order in which they are sent."""


def prompt_to_json(prompt: Prompt) -> str | list[dict[str, Any]]:
    """Return a prompt as plain JSON values: a string, or a list of ``{role, content}``."""
    if isinstance(prompt, str):
        return prompt
    return [message_to_json(message) for message in prompt]


def prompt_from_json(value: str | Sequence[Mapping[str, Any]]) -> Prompt:
    """Read back the value of `prompt_to_json`."""
    if isinstance(value, str):
        return value
    return tuple(message_from_json(item) for item in value)


def prompts_to_json(prompts: Prompts) -> str | list[Any]:
    """Return one prompt as `prompt_to_json` does, several as a list of them."""
    if isinstance(prompts, str):
        return prompts
    return [message_to_json(item) if isinstance(item, ChatMessage) else prompt_to_json(item) for item in prompts]


def prompts_from_json(value: str | Sequence[Any]) -> Prompts:
    """Read back the value of `prompts_to_json`."""
    if isinstance(value, str):
        return value
    if not value or isinstance(value[0], dict):
        return prompt_from_json(value)
    return tuple(prompt_from_json(item) for item in value)


def message_to_json(message: ChatMessage) -> dict[str, Any]:
    """Return a message as plain JSON values: ``{role, content}``, and its other keys."""
    return {"role": message.role, "content": _content_to_json(message.content), **message.extra}


def message_from_json(value: Mapping[str, Any]) -> ChatMessage:
    """Return the message of plain JSON values, with all of its keys."""
    content = value.get("content")
    extra = {key: part for key, part in value.items() if key not in ("role", "content")}
    if content is None:
        extra["content"] = None
    return ChatMessage(str(value["role"]), "" if content is None else _content_from_json(content), extra)


def _content_to_json(content: Content) -> str | list[dict[str, Any]]:
    return content if isinstance(content, str) else [dict(part) for part in content]


def _content_from_json(content: str | Sequence[Mapping[str, Any]]) -> Content:
    return tuple(map(dict, content)) if isinstance(content, list | tuple) else str(content)
