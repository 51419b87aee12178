"""The wire format of OpenAI's Responses API.

Source: the API reference of OpenAI, "Responses", and the types of its package (``openai.types.responses``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from ais_prompt.errors import PromptError
from ais_prompt.models.api.chat import chat_messages, usage_of
from ais_prompt.models.api.server_words import ended, reported_failure
from ais_prompt.models.api.stream import PieceKind, StreamReader
from ais_prompt.models.api.wire import EFFORT, BadBody, as_messages, embed_files, fields_of, is_effort_number, text_of
from ais_prompt.models.model_options import Wire
from ais_prompt.types import ChatMessage, Completion, Decoding, Failure, Prompt, Request, ToolCall, Usage
from ais_prompt.utils import CALL, RESULT, parts_of, text_of_calls, with_call_parts

_ROLES: Final = {"system", "developer", "user", "assistant"}
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Type of an item of the output that calls a tool of the config → its field with the arguments."""
_FAILED_CODES: Final = {"server_error": "http_500", "rate_limit_exceeded": "http_429"}
"""Code of a failed response → kind of the failure; other codes are faults of the request."""
_PIECES: Final[Mapping[str, PieceKind]] = {
    "response.output_text.delta": "a",
    "response.refusal.delta": "a",
    "response.reasoning_text.delta": "r",
    "response.reasoning_summary_text.delta": "r",
    "response.function_call_arguments.delta": "t",
    "response.custom_tool_call_input.delta": "t",
}
"""Type of an event with a piece of the answer, of the reasoning or of a call → its kind."""
_ENDS: Final = {"response.completed", "response.incomplete", "response.failed"}


class Responses(Struct, frozen=True):
    """The endpoint ``responses``.

    Attributes:
        path, title, stream_fields: as in `WireFormat`.
    """

    path: str = "responses"
    title: str = "Responses (OpenAIResponsesModel)"
    stream_fields: Mapping[str, Any] = MappingProxyType({"stream": True})

    @property
    def prompt_value(self) -> Callable[[Prompt], str | list[dict[str, Any]]]:
        """As `WireFormat.prompt_value`."""
        return chat_messages

    def body(self, model: str, request: Request, wire: Wire) -> dict[str, Any]:  # noqa: ARG002
        """As `WireFormat.body`. Nothing is stored on the server unless ``extra`` says ``store=True``.

        The endpoint has no field for stop texts or a seed. Answers are cut at stop texts when they are read.
        """
        decoding = request.decoding
        assert isinstance(decoding, Decoding)
        extra = _with_tools(response_effort(decoding.extra))
        options = {"temperature": decoding.temperature, "top_p": decoding.top_p}
        return {
            "model": model,
            "input": response_input(request.prompt),
            "max_output_tokens": decoding.max_out_len,
            "store": False,
            "stream": False,  # the default of `transformers serve` is True
            **{name: value for name, value in options.items() if value is not None},
            **extra,
        }

    def answer(self, reply: Any) -> Completion:
        """As `WireFormat.answer`."""
        if not isinstance(reply, dict) or not isinstance(reply.get("output"), list):
            raise BadBody("the reply is no response")
        usage = usage_of(reply.get("usage"), "input", "output")
        status = reply.get("status")
        if status == "failed" or reply.get("error"):
            error = fields_of(reply.get("error"))
            code, words = text_of(error.get("code")), text_of(error.get("message")) or "the response failed"
            failure = Failure(_FAILED_CODES.get(code, f"response_{code or 'failed'}"), words)
            return Completion(usage=usage, failure=reported_failure({"error": error}) or failure)
        cause = fields_of(reply.get("incomplete_details")).get("reason") if status == "incomplete" else None
        said = _completion([fields_of(item) for item in reply["output"]], usage)
        found = ended(said, "tool_calls" if status == "completed" and said.tool_calls else cause or status)
        # A response that is not completed, for whatever reason, is no whole answer.
        is_whole = status == "completed" or found.finish_reason not in ("unknown", "tool_calls")
        return found if is_whole else ended(said, "incomplete")

    def reader(self, clock: Callable[[], float] = perf_counter) -> ResponseStream:
        """As `WireFormat.reader`."""
        return ResponseStream(clock)


RESPONSES: Final = Responses()


class ResponseStream(StreamReader):
    """Reads the events of one response. The last one holds the whole response; the others show when pieces came.

    Args:
        clock: as for `StreamReader`.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(clock)
        self._response: Any = None

    def _take(self, event: dict[str, Any]) -> PieceKind:
        kind = text_of(event.get("type"))
        if kind == "error":
            raise BadBody("the stream holds an error")
        if kind in _ENDS:
            self._response = event.get("response")
            self._done |= self._response is not None
        return _PIECES.get(kind, "o")

    def _assemble(self) -> Completion:
        return RESPONSES.answer(self._response)


def response_input(prompt: Prompt) -> list[dict[str, Any]]:
    """Return a prompt as items of ``input``.

    Raises:
        PromptError: a message has a role or a part that the endpoint does not have.
        DataError: a local file cannot be read.
    """
    return [item for message in as_messages(embed_files(prompt)) for item in _items(with_call_parts(message))]


def _items(message: ChatMessage) -> list[dict[str, Any]]:
    """Return a message as items: a call and its result are items of their own."""
    if results := parts_of(message, RESULT):
        return [{"type": "function_call_output", "call_id": one["id"], "output": one["text"]} for one in results]
    calls = parts_of(message, CALL)
    if not calls:
        return [_item(message)]
    text = text_of_calls(message)
    said = [_message(message.role, text)] if text else []
    named = [{"call_id": one["id"], "name": one["name"], "arguments": one["arguments"]} for one in calls]
    return [*said, *({"type": "function_call", **one} for one in named)]


def response_effort(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a body for the Responses API.

    Source: the API reference of OpenAI, "Responses", ``reasoning.effort``.

    Raises:
        PromptError: the effort is a number of tokens, for which the API has no field.
    """
    found = dict(extra)
    if (effort := found.pop(EFFORT, None)) is None:
        return found
    if is_effort_number(effort) and effort > 0:
        what = f"the Responses API has no budget of {effort} tokens for thoughts"
        raise PromptError(what, fix=f"write {EFFORT}='low', 'medium' or 'high'")
    level = "none" if is_effort_number(effort) else effort
    return {**found, "reasoning": {"effort": level, **found.get("reasoning", {})}}


def _with_tools(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return further fields with tools and their choice in the form of the API, which has no ``function`` in them."""
    found = dict(extra)
    if "tools" in extra:
        # The server would be strict by default, and refuse schemas with optional parameters then.
        default = {"type": "function", "parameters": None, "strict": False}
        found["tools"] = [{**default, **tool["function"]} if "function" in tool else tool for tool in extra["tools"]]
    choice = extra.get("tool_choice")
    if isinstance(choice, Mapping) and "function" in choice:
        found["tool_choice"] = {"type": "function", **choice["function"]}
    return found


def _item(message: ChatMessage) -> dict[str, Any]:
    if message.role not in _ROLES:
        fix = "use OpenAIChatModel, or system, user and assistant only"
        raise PromptError(f"the Responses API has no role {message.role!r}", fix=fix)
    if isinstance(message.content, str):
        return _message(message.role, message.content)
    parts = [_part(part) for part in message.content]
    if message.role != "assistant":
        return _message(message.role, parts)
    if any(part["type"] != "input_text" for part in parts):
        raise PromptError("the Responses API takes no media from the assistant", fix="move them to the user")
    return _message(message.role, "".join(part["text"] for part in parts))


def _message(role: str, content: str | list[dict[str, Any]]) -> dict[str, Any]:
    """Return the item of a message. OpenAI can do without its type, llama.cpp's server refuses an assistant's then."""
    return {"type": "message", "role": role, "content": content}


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind == "text":
        return {"type": "input_text", "text": part.get("text", "")}
    if kind == "image_url":
        image = part["image_url"]
        return {"type": "input_image", "image_url": image.get("url"), "detail": image.get("detail", "auto")}
    raise PromptError(f"the Responses API takes text and images, no part of the type {kind!r}", fix="use another model")


def _completion(items: list[Mapping[str, Any]], usage: Usage) -> Completion:
    """Join the items of a response: messages, reasoning and calls; others are of tools that run on the server."""
    parts = [
        fields_of(part)
        for item in items
        if item.get("type") == "message" and isinstance(item.get("content"), list)
        for part in item["content"]
    ]
    refusal = "".join(text_of(part.get("refusal")) for part in parts if part.get("type") == "refusal")
    text = "".join(text_of(part.get("text")) for part in parts if part.get("type") == "output_text")
    reasoning = [_reasoning(item) for item in items if item.get("type") == "reasoning"]
    calls = tuple(
        ToolCall(text_of(item.get("name")), text_of(item.get(field)))
        for item in items
        if (field := _CALLS.get(text_of(item.get("type"))))
    )
    return Completion(
        text or refusal,
        usage=usage,
        reasoning="\n\n".join(filter(None, reasoning)),
        refused=bool(refusal),
        tool_calls=calls,
    )


def _reasoning(item: Mapping[str, Any]) -> str:
    """Return the reasoning of an item: its text where the server shows it, as vLLM does, else its summary."""
    for name in ("content", "summary"):
        pieces = item.get(name)
        texts = [text_of(fields_of(piece).get("text")) for piece in pieces] if isinstance(pieces, list) else []
        if any(texts):
            return "\n\n".join(filter(None, texts))
    return ""
