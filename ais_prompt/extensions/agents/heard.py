"""Read the requests of agents, in the forms of Chat Completions, Responses and Anthropic's Messages API.

All become the same: messages of this program, and options in the words of the older API of OpenAI. The ids of calls of
tools are numbered anew in each conversation, so that equal conversations are equal requests. Nothing that a request
names is opened: an image that is not part of it becomes a text with its address.

Sources: the API references of OpenAI ("Chat Completions", "Responses") and of Anthropic ("Messages").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from ais_prompt.types import ChatMessage, Decoding
from ais_prompt.utils import CALL, RESULT, TOOL_ROLE

_OPTIONS: Final = ("tools", "tool_choice", "response_format", "parallel_tool_calls", "reasoning_effort")
"""Options of a request that may change its answer, and are passed on in the words of Chat Completions."""


class BadRequest(ValueError):
    """A request that the proxy does not take; its words are for the author of the agent."""


class Heard(Struct, frozen=True):
    """A request of an agent.

    Attributes:
        messages: the conversation.
        options: those of `_OPTIONS` that it has.
        named: name of the model.
        stream: whether the answer is to be streamed.
        max_out_len, temperature, top_p, stop, seed: as in `Decoding`; None or empty where the request does not say.
    """

    messages: tuple[ChatMessage, ...]
    options: Mapping[str, Any]
    named: str = ""
    stream: bool = False
    max_out_len: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None

    def decoding(self, usual: Decoding) -> Decoding:
        """Return how the answer is generated: as the agent says, else as usual."""

        def first(asked: Any, otherwise: Any) -> Any:
            return otherwise if asked is None else asked

        return Decoding(
            first(self.max_out_len, usual.max_out_len),
            first(self.temperature, usual.temperature),
            first(self.top_p, usual.top_p),
            self.stop or usual.stop,
            usual.stop_tokens,
            first(self.seed, usual.seed),
            {**usual.extra, **self.options},
        )

    def call_ids(self) -> Iterator[str]:
        """Yield ids for the calls of the answer, in the form of `ais_prompt.utils.call_messages`."""
        turn = sum(any(part.get("type") == CALL for part in _parts(one)) for one in self.messages)
        return (f"call{turn:03}{number:02}" for number in range(10**6))


def read_chat(body: Mapping[str, Any]) -> Heard:
    """Read a request of Chat Completions.

    Raises:
        BadRequest: it has another form, or asks for what the proxy cannot do.
    """
    if body.get("n") not in (None, 1):
        raise BadRequest("n: this proxy gives one choice")
    if body.get("functions"):
        raise BadRequest("functions: this proxy takes tools, the form that followed functions")
    return _heard(
        body,
        _renumbered(_chat_message(one) for one in _list(body, "messages")),
        {name: body[name] for name in _OPTIONS if body.get(name) is not None},
        body.get("max_completion_tokens", body.get("max_tokens")),
        body.get("stop"),
        body.get("seed"),
    )


def read_responses(body: Mapping[str, Any]) -> Heard:
    """Read a request of Responses.

    Raises:
        BadRequest: as `read_chat`.
    """
    if body.get("previous_response_id") or body.get("conversation"):
        raise BadRequest("previous_response_id: this proxy keeps no conversations; send all items as input")
    options: dict[str, Any] = {}
    if tools := body.get("tools"):
        options["tools"] = [_tool(one, "parameters") for one in tools]
    if (choice := body.get("tool_choice")) is not None:
        options["tool_choice"] = choice if isinstance(choice, str) else _chosen(choice)
    if body.get("parallel_tool_calls") is not None:
        options["parallel_tool_calls"] = body["parallel_tool_calls"]
    if isinstance(body.get("reasoning"), dict) and body["reasoning"].get("effort"):
        options["reasoning_effort"] = body["reasoning"]["effort"]
    form = body["text"].get("format") if isinstance(body.get("text"), dict) else None
    if isinstance(form, dict) and form.get("type") == "json_schema":
        schema = {name: value for name, value in form.items() if name != "type"}
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif isinstance(form, dict) and form.get("type") == "json_object":
        options["response_format"] = {"type": "json_object"}
    first = [ChatMessage("system", body["instructions"])] if body.get("instructions") else []
    items = body.get("input")
    items = [{"role": "user", "content": items}] if isinstance(items, str) else _list(body, "input")
    messages = _renumbered(_joined([*first, *(message for item in items for message in _item(item))]))
    return _heard(body, messages, options, body.get("max_output_tokens"), None, None)


def read_messages(body: Mapping[str, Any]) -> Heard:
    """Read a request of Anthropic's Messages API.

    Raises:
        BadRequest: as `read_chat`.
    """
    options: dict[str, Any] = {}
    if tools := body.get("tools"):
        options["tools"] = [_tool(one, "input_schema") for one in tools]
    if isinstance(choice := body.get("tool_choice"), dict):
        kind = {"any": "required", "auto": "auto", "none": "none"}.get(str(choice.get("type")))
        options["tool_choice"] = kind or _chosen(choice)
        if choice.get("disable_parallel_tool_use"):
            options["parallel_tool_calls"] = False
    first = [ChatMessage("system", _content(body["system"]))] if body.get("system") else []
    said = [message for one in _list(body, "messages") for message in _turn(one)]
    messages = _renumbered([*first, *said])
    return _heard(body, messages, options, body.get("max_tokens"), body.get("stop_sequences"), None)


READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Heard]]] = {
    "chat": read_chat,
    "responses": read_responses,
    "messages": read_messages,
}
"""Name of an API → the reader of its requests."""


def _heard(
    body: Mapping[str, Any],
    messages: Iterable[ChatMessage],
    options: Mapping[str, Any],
    max_out_len: Any,
    stop: Any,
    seed: Any,
) -> Heard:
    found = tuple(messages)
    if not found:
        raise BadRequest("the conversation is empty")
    for name, value, kinds in (
        ("max_tokens", max_out_len, int),
        ("temperature", body.get("temperature"), int | float),
        ("top_p", body.get("top_p"), int | float),
        ("seed", seed, int),
        ("stop", stop, str | list),
    ):
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise BadRequest(f"{name}: {value!r:.80} cannot be used")
    stops = (stop,) if isinstance(stop, str) else tuple(map(str, stop or ()))
    return Heard(
        found,
        options,
        str(body.get("model") or ""),
        bool(body.get("stream")),
        max_out_len,
        body.get("temperature"),
        body.get("top_p"),
        stops,
        seed,
    )


def _list(body: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = body.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadRequest(f"{name}: a list of objects is required")
    return value


def _chat_message(message: Mapping[str, Any]) -> ChatMessage:
    role = str(message.get("role") or "")
    if role == "tool":
        return _result(message.get("tool_call_id"), message.get("content"))
    content = _content(message.get("content"))
    calls = message.get("tool_calls") or ()
    if calls:
        functions = [(one.get("id"), one.get("function") or {}) for one in calls if isinstance(one, dict)]
        named = [_call(name, function.get("name"), function.get("arguments")) for name, function in functions]
        content = (*_as_parts(content), *named)
    extra = {"name": message["name"]} if isinstance(message.get("name"), str) else {}
    return ChatMessage("system" if role == "developer" else role, content, extra)


def _item(item: Mapping[str, Any]) -> Iterator[ChatMessage]:
    """Yield the message of an item of Responses; thoughts cannot be passed on to another model."""
    kind = item.get("type", "message")
    if kind == "message":
        role = str(item.get("role") or "user")
        yield ChatMessage("system" if role == "developer" else role, _content(item.get("content")))
    elif kind == "function_call":
        yield ChatMessage("assistant", (_call(item.get("call_id"), item.get("name"), item.get("arguments")),))
    elif kind == "function_call_output":
        yield _result(item.get("call_id"), item.get("output"))
    elif kind != "reasoning":
        raise BadRequest(f"input: this proxy takes no item of the type {kind!r}")


def _joined(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return messages with the calls of one turn, which are items of their own, in one message."""
    found: list[ChatMessage] = []
    for message in messages:
        calls = message.role == "assistant" and any(part.get("type") == CALL for part in _parts(message))
        if calls and found and found[-1].role == "assistant":
            content = (*_as_parts(found[-1].content), *_parts(message))
            found[-1] = ChatMessage("assistant", content)
        else:
            found.append(message)
    return found


def _turn(message: Mapping[str, Any]) -> Iterator[ChatMessage]:
    """Yield the messages of a turn of the Messages API: the results of tools in it are messages of their own."""
    role, content = str(message.get("role") or ""), message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield _result(block.get("tool_use_id"), block.get("content"))
    left = [block for block in blocks if block.get("type") not in ("tool_result", "thinking", "redacted_thinking")]
    calls = [block for block in left if block.get("type") == "tool_use"]
    said = _content([block for block in left if block.get("type") != "tool_use"])
    if calls:
        named = [
            _call(one.get("id"), one.get("name"), msgspec.json.encode(one.get("input") or {}).decode()) for one in calls
        ]
        yield ChatMessage(role, (*_as_parts(said), *named))
    elif left or not results:
        yield ChatMessage(role, said)


def _content(content: Any) -> str | tuple[Mapping[str, Any], ...]:
    """Return a content: a text if it has nothing else."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadRequest(f"content: {content!r:.80} is no text and no list of parts")
    parts = [_part(one) for one in content]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return tuple(parts)


def _part(part: Any) -> Mapping[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, dict):
        raise BadRequest(f"content: {part!r:.80} is no part of a message")
    kind = str(part.get("type"))
    if kind in ("text", "input_text", "output_text", "refusal"):
        return {"type": "text", "text": str(part.get("text", part.get("refusal", "")))}
    if kind in ("image_url", "input_image", "image"):
        return _image(part)
    raise BadRequest(f"content: this proxy takes texts and images, no part of the type {kind!r}")


def _image(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an image that is part of the request; of any other its address, as a text."""
    source = part.get("image_url", part.get("source"))
    if isinstance(source, dict) and source.get("type") == "base64":
        source = f"data:{source.get('media_type')};base64,{source.get('data')}"
    url = str(source.get("url") if isinstance(source, dict) else source)
    if url.lower().startswith("data:"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": f"[image: {url}]"}


def _result(name: Any, content: Any) -> ChatMessage:
    text = _content(content)
    if not isinstance(text, str):
        text = "\n".join(str(part.get("text", "[image]")) for part in text)
    return ChatMessage(TOOL_ROLE, ({"type": RESULT, "id": str(name), "text": text},))


def _call(name: Any, function: Any, arguments: Any) -> Mapping[str, Any]:
    if not isinstance(function, str) or not isinstance(arguments, str | None):
        raise BadRequest("tool_calls: a call needs a name, and arguments as a text")
    return {"type": CALL, "id": str(name), "name": function, "arguments": arguments or "{}"}


def _tool(tool: Any, schema: str) -> Mapping[str, Any]:
    """Return a tool in the form of Chat Completions."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or tool.get("type") not in _TOOL_KINDS:
        kind = tool.get("type") if isinstance(tool, dict) else tool
        raise BadRequest(f"tools: this proxy passes functions on, and has no tool of the type {kind!r} of its own")
    function = {"name": tool["name"], "parameters": tool.get(schema) or {"type": "object", "properties": {}}}
    more = {name: tool[name] for name in ("description", "strict") if tool.get(name) is not None}
    return {"type": "function", "function": {**function, **more}}


_TOOL_KINDS: Final = (None, "function", "custom")


def _chosen(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "function", "function": {"name": str(choice.get("name"))}}


def _renumbered(messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    """Yield messages with the ids of calls numbered anew.

    Raises:
        BadRequest: a result belongs to no call before it.
    """
    names: dict[str, str] = {}
    turn = 0
    for message in messages:
        parts = _parts(message)
        calls = [part for part in parts if part.get("type") == CALL]
        for number, part in enumerate(calls):
            names[part["id"]] = f"call{turn:03}{number:02}"
        turn += bool(calls)
        if missing := [part["id"] for part in parts if part.get("type") == RESULT and part["id"] not in names]:
            raise BadRequest(f"messages: the result {missing[0]!r} belongs to no call before it")
        if parts:
            named = tuple({**part, "id": names[part["id"]]} if "id" in part else part for part in parts)
            yield ChatMessage(message.role, named, message.extra)
        else:
            yield message


def _parts(message: ChatMessage) -> Sequence[Mapping[str, Any]]:
    return () if isinstance(message.content, str) else message.content


def _as_parts(content: str | Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content
