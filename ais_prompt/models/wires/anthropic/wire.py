"""The wire format of Anthropic's Messages API.

Sources: the API reference of Anthropic, "Messages" and "Streaming Messages", and the types of its package
(``anthropic.types``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import PromptError
from ais_prompt.models.api.wire import embed_files
from ais_prompt.models.options import Wire
from ais_prompt.models.wires.anthropic.replies import message_completion
from ais_prompt.models.wires.anthropic.stream import MessageStream
from ais_prompt.types import ChatMessage, Completion, Decoding, Prompt, Request, prompt_to_json
from ais_prompt.utils.tool_messages import CALL, RESULT, arguments_of, parts_of

_ROLES: Final = {"system", "user", "assistant"}
_DATA_URL: Final = re.compile(r"data:([^;,]*);base64,(.*)", re.IGNORECASE | re.DOTALL)


class Messages(Struct, frozen=True):
    """The endpoint ``messages``.

    Attributes:
        path, title, stream_fields: as in `WireFormat`.
    """

    path: str = "messages"
    title: str = "Messages (AnthropicModel)"
    stream_fields: Mapping[str, Any] = MappingProxyType({"stream": True})

    @property
    def prompt_value(self) -> Callable[[Prompt], str | list[dict[str, Any]]]:
        """As `WireFormat.prompt_value`."""
        return lambda prompt: prompt_to_json(_as_messages(prompt))

    def body(self, model: str, request: Request, wire: Wire) -> dict[str, Any]:  # noqa: ARG002
        """As `WireFormat.body`.

        Stop texts of white space only are refused by the server. Answers are cut at them when they are read.
        """
        decoding = request.decoding
        assert isinstance(decoding, Decoding)
        options = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "stop_sequences": [text for text in decoding.stop if text.strip()] or None,
        }
        return {
            "model": model,
            "max_tokens": decoding.max_out_len,
            **_prompt_fields(embed_files(request.prompt)),
            **{name: value for name, value in options.items() if value is not None},
            **_with_tools(decoding.extra),
        }

    def answer(self, reply: Any) -> Completion:
        """As `WireFormat.answer`."""
        return message_completion(reply)

    def local_stops(self, stop: tuple[str, ...]) -> tuple[str, ...]:
        """As `WireFormat.local_stops`: those that the server refuses."""
        return tuple(text for text in stop if not text.strip())

    def reader(self) -> MessageStream:
        """As `WireFormat.reader`."""
        return MessageStream()


MESSAGES: Final = Messages()


def _as_messages(prompt: Prompt) -> tuple[ChatMessage, ...]:
    return (ChatMessage("user", prompt),) if isinstance(prompt, str) else prompt


def _prompt_fields(prompt: Prompt) -> dict[str, Any]:
    """Return the fields ``system`` and ``messages``.

    System messages at the beginning become ``system``; later ones stay, which newer models accept. Messages of one role
    in a row become one message, since roles must alternate.
    """
    messages = _as_messages(prompt)
    if unknown := [message.role for message in messages if _sender(message) not in _ROLES]:
        fix = "use system, user and assistant only"
        raise PromptError(f"the Messages API has no role {unknown[0]!r}", fix=fix)
    start = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    if start == len(messages):
        raise PromptError("the Messages API needs a message of the user", fix="add a turn of the user to the template")
    turns = [
        {"role": role, "content": _content([block for message in turn for block in _blocks(message)])}
        for role, turn in groupby(messages[start:], _sender)
    ]
    system = [block for message in messages[:start] for block in _blocks(message)]
    return {**({"system": _content(system)} if system else {}), "messages": turns}


def _sender(message: ChatMessage) -> str:
    """Return who sends a message: results of tools are what the user says."""
    return "user" if parts_of(message, RESULT) else message.role


def _with_tools(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return further fields with tools and their choice in the form of the API, if they are in that of OpenAI's."""
    found = dict(extra)
    if "tools" in extra:
        found["tools"] = [_tool(one) for one in extra["tools"]]
    if (choice := extra.get("tool_choice")) is None:
        return found
    if isinstance(choice, str):
        found["tool_choice"] = {"type": {"required": "any"}.get(choice, choice)}
    elif "function" in choice:
        found["tool_choice"] = {"type": "tool", "name": choice["function"]["name"]}
    return found


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    if "function" not in tool:
        return tool
    function = tool["function"]
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    more = {name: function[name] for name in ("description", "strict") if name in function}
    return {"name": function["name"], "input_schema": schema, **more}


def _content(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return the content of a message: a text if there is nothing else."""
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks


def _blocks(message: ChatMessage) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.content}]
    return [_block(part) for part in message.content]


def _block(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind == "text":
        return {"type": "text", "text": part.get("text", "")}
    if kind == CALL:
        return {"type": "tool_use", "id": part["id"], "name": part["name"], "input": arguments_of(part)}
    if kind == RESULT:
        return {"type": "tool_result", "tool_use_id": part["id"], "content": part["text"]}
    if kind != "image_url":
        what = f"the Messages API takes text and images, no part of the type {kind!r}"
        raise PromptError(what, fix="use another model")
    url = str(part["image_url"].get("url"))
    if found := _DATA_URL.fullmatch(url):
        return {"type": "image", "source": {"type": "base64", "media_type": found[1], "data": found[2]}}
    return {"type": "image", "source": {"type": "url", "url": url}}
