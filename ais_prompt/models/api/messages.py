"""Models behind Anthropic's Messages API: requests to JSON bodies, replies and streams to completions.

Sources: the API reference of Anthropic, "Messages" and "Streaming Messages", and the types of its package
(``anthropic.types``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.models.api.addresses import Defaults
from ais_prompt.models.api.model import ApiModel
from ais_prompt.models.api.server_words import ended
from ais_prompt.models.api.stream import PieceKind, StreamReader
from ais_prompt.models.api.wire import (
    EFFORT,
    BadBody,
    as_messages,
    embed_files,
    fields_of,
    is_effort_number,
    read_json,
    text_of,
    token_count,
)
from ais_prompt.models.flat_options import SamplingOption, read_option
from ais_prompt.models.model_options import Sampling, Wire
from ais_prompt.registry import MODELS
from ais_prompt.types import ChatMessage, Completion, Decoding, Prompt, Request, ToolCall, Usage, prompt_to_json
from ais_prompt.utils import CALL, RESULT, arguments_of, parts_of, with_call_parts

_ROLES: Final = {"system", "user", "assistant"}
_BUDGETS: Final = {"minimal": 1024, "low": 1024, "medium": 2048, "high": 4096}
_LEAST_BUDGET: Final = 1024
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
        return lambda prompt: prompt_to_json(as_messages(prompt))

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
            **_with_tools(message_effort(decoding.extra, decoding.max_out_len)),
        }

    def answer(self, reply: Any) -> Completion:
        """As `WireFormat.answer`.

        Thinking becomes the reasoning; redacted thinking has no text. A refusal without a text of its own has the
        explanation of the server as its text.
        """
        if not isinstance(reply, dict) or not isinstance(reply.get("content"), list):
            raise BadBody("the reply is no message")
        blocks = [fields_of(block) for block in reply["content"]]
        reason = text_of(reply.get("stop_reason"))
        refused = reason == "refusal"
        text = _joined(blocks, "text", "text", "")
        if refused and not text:
            text = text_of(fields_of(reply.get("stop_details")).get("explanation"))
        said = Completion(
            text,
            usage=_usage(reply.get("usage")),
            reasoning=_joined(blocks, "thinking", "thinking", "\n\n"),
            refused=refused,
            tool_calls=tuple(
                ToolCall(text_of(block.get("name")), _arguments(block.get("input")))
                for block in blocks
                if block.get("type") == "tool_use"
            ),
        )
        return ended(said, reason)

    def reader(self, clock: Callable[[], float] = perf_counter) -> MessageStream:
        """As `WireFormat.reader`."""
        return MessageStream(clock)


MESSAGES: Final = Messages()


def _prompt_fields(prompt: Prompt) -> dict[str, Any]:
    """Return the fields ``system`` and ``messages``.

    System messages at the beginning become ``system``; later ones stay, which newer models accept. Messages of one role
    in a row become one message, since roles must alternate.
    """
    messages = [with_call_parts(message) for message in as_messages(prompt)]
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
    """Return who sends a message: results of tools come from the user."""
    return "user" if parts_of(message, RESULT) else message.role


def message_effort(extra: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """Return the fields of a body for the Messages API.

    The API has a budget of tokens, at least 1,024 and less than ``max_tokens``, which counts thoughts too. Source: the
    documentation of Anthropic, "Extended thinking", ``thinking.budget_tokens``. Levels are the budgets that LiteLLM
    gives them (https://docs.litellm.ai, "Anthropic", "reasoning_effort"): 1,024, 2,048 and 4,096.

    Args:
        extra: the fields of the config; its own ``thinking`` comes first.
        max_tokens: of the request.

    Raises:
        PromptError: the level is not known, or the budget is outside of these limits.
    """
    found = dict(extra)
    if (effort := found.pop(EFFORT, None)) is None or "thinking" in found:
        return found
    if effort == "none" or (is_effort_number(effort) and effort == 0):
        return {**found, "thinking": {"type": "disabled"}}
    budget = effort if is_effort_number(effort) else _BUDGETS.get(effort)
    if budget is None:
        fix = f"write one of {', '.join(_BUDGETS)}, none, or a number of tokens"
        raise PromptError(f"the Messages API has no budget for {EFFORT}={effort!r}", fix=fix)
    if budget < _LEAST_BUDGET:
        what = f"the Messages API takes no budget of {budget} tokens for thoughts"
        raise PromptError(what, fix=f"give at least {_LEAST_BUDGET}, or 0 for no thoughts")
    if budget >= max_tokens:
        what = f"thoughts may take {budget} tokens, and thoughts and answer together {max_tokens}"
        raise PromptError(what, fix=f"set max_out_len above {budget}")
    return {**found, "thinking": {"type": "enabled", "budget_tokens": budget}}


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


@MODELS.register_module()
class AnthropicModel(ApiModel):
    """A chat model behind Anthropic's Messages API: messages are posted to ``{base_url}/messages``.

    The API has no ``max_tokens_field``, ``logprobs_via``, ``seed``, and no client of the openai package. The address
    may leave out ``/v1``, as in Anthropic's own clients. It comes from ``ANTHROPIC_BASE_URL`` if the config has none,
    the key from ``ANTHROPIC_API_KEY``.

    The newest models take no sampling options. So no temperature is sent unless the config sets one.
    ``generation_kwargs=dict(reasoning_effort='high')``, or a number of tokens, is ``thinking`` with a budget. Other
    options of the body: ``generation_kwargs=dict(thinking=dict(type='adaptive'), output_config=dict(effort='high'))``.
    """

    sends_fields = frozenset({"tools", "tool_choice"})
    endpoint = MESSAGES
    api = "anthropic"
    defaults = Defaults("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")

    def _addresses(self, base_url: str | Sequence[str] | None) -> tuple[str, ...]:
        return tuple(map(_with_version, super()._addresses(base_url)))

    def _read_sampling(self, sampling: SamplingOption, flat: Mapping[str, Any]) -> Sampling:
        given = {"temperature": None, **sampling} if isinstance(sampling, Mapping) else sampling
        return read_option("sampling", Sampling, given, flat, temperature=None)

    def _check_options(self) -> None:
        super()._check_options()
        if self.client.type == "openai":
            what = "the client of the openai package cannot log in to the Messages API"
            raise ConfigError(what, where="client", fix="leave client out, or use OpenAIChatModel")


def _with_version(base_url: str) -> str:
    """Return the address with ``/v1`` at the end of its path."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    return base_url if path.endswith("/v1") else urlunsplit(parts._replace(path=f"{path}/v1"))


def _arguments(given: Any) -> str:
    """Return the arguments of a call as JSON; a stream that was cut has a text that is no JSON in their place."""
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()


def _joined(blocks: list[dict[str, Any]], kind: str, field: str, between: str) -> str:
    texts = (text_of(block.get(field)) for block in blocks if block.get("type") == kind)
    return between.join(filter(None, texts))


def _usage(usage: Any) -> Usage:
    """Return the token counts; the server counts tokens from and for its cache beside ``input_tokens``."""
    counts = fields_of(usage)
    fresh, read, written, out = (
        token_count(counts.get(name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    )
    thinking = token_count(fields_of(counts.get("output_tokens_details")).get("thinking_tokens"))
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(prompt, out, reasoning_tokens=thinking, cached_tokens=read, cache_write_tokens=written)


_PIECES: Final[Mapping[str, tuple[str, PieceKind]]] = {
    "text_delta": ("text", "a"),
    "thinking_delta": ("thinking", "r"),
    "input_json_delta": ("partial_json", "t"),
}
"""Type of a delta → its field with a piece of a block, and the kind of the piece."""


class MessageStream(StreamReader):
    """Assembles one message from its events.

    Args:
        clock: as for `StreamReader`.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__(clock)
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}

    def _take(self, event: dict[str, Any]) -> PieceKind:
        kind, index = text_of(event.get("type")), event.get("index")
        if kind == "message_start" and isinstance(event.get("message"), dict):
            self._message = dict(event["message"])
        elif kind == "content_block_start" and type(index) is int and isinstance(event.get("content_block"), dict):
            self._blocks[index], self._pieces[index] = dict(event["content_block"]), []
        elif kind == "content_block_delta" and type(index) is int and index in self._blocks:
            return self._piece(index, fields_of(event.get("delta")))
        elif kind == "message_delta" and self._message is not None:
            usage = fields_of(self._message.get("usage")) | fields_of(event.get("usage"))
            self._message |= {**fields_of(event.get("delta")), "usage": usage}
        elif kind == "message_stop":
            self._done = True
        return "o"

    def _piece(self, index: int, delta: Any) -> PieceKind:
        """Take a piece of a block; return what it brings."""
        field, kind = _PIECES.get(text_of(delta.get("type")), ("", "o"))
        piece = delta.get(field) if field else None
        if not isinstance(piece, str):
            return "o"
        self._pieces[index].append(piece)
        return kind if piece else "o"

    def _assemble(self) -> Completion:
        if self._message is None:
            raise BadBody("the stream holds no message")
        return MESSAGES.answer({**self._message, "content": [self._block(index) for index in sorted(self._blocks)]})

    def _block(self, index: int) -> dict[str, Any]:
        block, text = self._blocks[index], "".join(self._pieces[index])
        kind = block.get("type")
        if kind in ("text", "thinking"):
            return {**block, kind: text_of(block.get(kind)) + text}
        if kind == "tool_use" and text:
            try:
                return {**block, "input": read_json(text.encode())}
            except BadBody:  # an answer that was cut ends in the middle of its arguments
                return {**block, "input": text}
        return block
