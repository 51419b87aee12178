"""Whatever a server puts in whatever place of a reply, a completion or a failure comes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.engine import SpeedMeter
from ais_prompt.models import (
    CHAT,
    COMPLETIONS,
    MESSAGES,
    RESPONSES,
    THINK_TAGS,
    ChatStream,
    MessageStream,
    ResponseStream,
    StreamReader,
    WireFormat,
    WrittenReply,
    message_body,
    message_events,
    read_reply,
    response_body,
    response_events,
    split_reasoning,
)
from ais_prompt.types import Completion, Usage

USAGE = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
MESSAGE = {
    "role": "assistant",
    "content": [{"type": "text", "text": "four"}],
    "refusal": None,
    "reasoning_content": "two and two",
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
CHAT_REPLY = {"id": "1", "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}], "usage": USAGE}
TEXT_REPLY = {"id": "1", "choices": [{"index": 0, "text": "four", "finish_reason": "stop"}], "usage": USAGE}
ERROR = {"error": {"message": "no", "type": "bad", "code": "1"}, "detail": [{"msg": "no"}]}
DELTA = {"role": "assistant", "content": "four", "refusal": "no", "reasoning_content": "two"}
CHUNKS = [
    {"id": "1", "choices": [{"index": 0, "delta": DELTA, "finish_reason": None}]},
    {"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"id": "1", "choices": [], "usage": USAGE},
]
CALLED = {"type": "function_call", "id": "1", "call_id": "1", "name": "f", "arguments": "{}"}
RESPONSE = response_body({"model": "m", "input": "2+2"}, 1, WrittenReply("four", "stop", "two and two"))
RESPONSE["output"].append(CALLED)
ASKED = {"model": "m", "messages": [{"role": "user", "content": "2+2"}]}
USED: dict[str, Any] = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
SAID = message_body(ASKED, 1, WrittenReply("four", "stop", "two and two"))
SAID["content"].append(USED)
REPLIES: list[tuple[WireFormat, Any]] = [
    (CHAT, CHAT_REPLY),
    (COMPLETIONS, TEXT_REPLY),
    (RESPONSES, RESPONSE),
    (MESSAGES, SAID),
]
CALL_EVENTS = [
    {"type": "content_block_start", "index": 2, "content_block": USED},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a": 2}'}},
]
MESSAGE_EVENTS = [
    json.loads(event) for event in message_events(message_body(ASKED, 1, WrittenReply("four", "stop", "two")))
]
STREAMS: list[tuple[type[StreamReader], list[Any]]] = [
    (ChatStream, CHUNKS),
    (ResponseStream, [json.loads(event) for event in response_events(RESPONSE | {"output": RESPONSE["output"][:2]})]),
    (MessageStream, MESSAGE_EVENTS[:-2] + CALL_EVENTS + MESSAGE_EVENTS[-2:]),
]
ODD = [None, True, 0, -1, 1.5, 10**30, float("nan"), "", "four", [], [None], {}, {"index": 0}, [[]], [{"text": None}]]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def mutated(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """The value with something else in one place; without that place if there is `Ellipsis`."""
    value = deepcopy(value)
    owner = value
    for key in path[:-1]:
        owner = owner[key]
    if odd is ...:
        del owner[path[-1]]
    else:
        owner[path[-1]] = odd
    return value


def check(completion: Completion) -> None:
    """It is an answer or a failure that the rest of the program can work with."""
    assert isinstance(completion.text, str)
    assert (completion.finish_reason is None) is (completion.failure is not None)
    assert Completion.from_json(json.loads(json.dumps(completion.to_json()))) == completion
    assert isinstance(completion.usage, Usage)
    split_reasoning(completion, "question", THINK_TAGS)
    meter = SpeedMeter()
    meter.add(completion)
    meter.speed()


def check_every_place(endpoint: WireFormat, reply: Any) -> None:
    """Check a reply, and those with something else in one of its places."""
    check(read_reply(endpoint, 200, json.dumps(reply).encode()))
    for path in places(reply):
        for odd in [*ODD, ...]:
            check(read_reply(endpoint, 200, json.dumps(mutated(reply, path, odd)).encode()))


@pytest.mark.thorough
def test_every_odd_value_in_every_place() -> None:
    for endpoint, reply in REPLIES:
        check_every_place(endpoint, reply)
    for path in places(ERROR):
        for odd in ODD:
            check(read_reply(CHAT, 400, json.dumps(mutated(ERROR, path, odd)).encode()))


def streamed(chunks: list[Any], cut: int, kind: type[StreamReader] = ChatStream) -> Completion:
    body = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"
    reader = kind(partial(next, count(1.0)))
    for start in range(0, len(body), cut):
        reader.feed(body[start : start + cut])
    return reader.completion()


@pytest.mark.thorough
def test_every_odd_value_in_every_place_of_a_stream() -> None:
    for kind, chunks in STREAMS:
        assert streamed(chunks, 7, kind).text == "four"
        for path in places(chunks):
            for odd in [*ODD, ...]:
                check(streamed(mutated(chunks, path, odd), 1000, kind))


json_values = st.recursive(
    st.sampled_from(ODD[:9]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "index", "content", "message", "delta", "error"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.data())
def test_several_odd_values_at_once(data: st.DataObject) -> None:
    reply, chunks = CHAT_REPLY, CHUNKS
    for _ in range(data.draw(st.integers(1, 3))):
        reply = mutated(reply, data.draw(st.sampled_from([*places(reply)])), data.draw(json_values))
        chunks = mutated(chunks, data.draw(st.sampled_from([*places(chunks)])), data.draw(json_values))
    check(read_reply(CHAT, 200, json.dumps(reply).encode()))
    check(streamed(chunks, data.draw(st.integers(1, 40))))


@given(st.binary(max_size=200), st.integers(1, 20))
def test_any_bytes_as_a_stream(body: bytes, cut: int) -> None:
    reader = ChatStream(partial(next, count(1.0)))
    for start in range(0, len(body), cut):
        reader.feed(body[start : start + cut])
    check(reader.completion())
