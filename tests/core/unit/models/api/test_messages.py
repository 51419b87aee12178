"""Our form of the Messages API beside the types of the ``anthropic`` package."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from ais_prompt.errors import DataError, PromptError
from ais_prompt.models import (
    MESSAGES,
    THROTTLED,
    MessageStream,
    Wire,
    WrittenReply,
    error_of_messages,
    http_failure,
    is_temporary,
    message_body,
    message_events,
    read_reply,
)
from ais_prompt.testing.apis import message_fault
from ais_prompt.types import ChatMessage, Completion, Decoding, Failure, Request, ToolCall, Usage, message_from_json
from ais_prompt.utils import call_messages, openai_json
from tests.core.unit.models.package_types import PackageTypes

pytestmark = pytest.mark.thorough

TYPES = PackageTypes("anthropic.types")
TOOL = {"name": "add", "input_schema": {"type": "object"}}
OFFERED = {
    "type": "function",
    "function": {"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}},
}
CALLED = (
    ChatMessage("user", "1+1 and 2+2?"),
    *call_messages("I add.", [ToolCall("add", '{"a": 1}'), ToolCall("add", "not JSON")], ["2", "4"], 0),
)
CALLS = ({"name": "add", "arguments": '{"a": 1, "b": [2]}'}, {"name": "now", "arguments": "{}"})
"""For the mock server."""
URL = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
DATA = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
DIALOGUE = (
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "Hi"),
    ChatMessage("assistant", "Hello"),
    ChatMessage("user", "2+2?"),
)
PROMPTS: list[Any] = ["Hi", DIALOGUE, CALLED, (ChatMessage("user", ({"type": "text", "text": "What?"}, URL, DATA)),)]
DECODINGS = [
    Decoding(7),
    Decoding(7, stop=("Q:", "\n"), seed=3),
    Decoding(2048, extra={"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}, "tools": [TOOL]}),
    Decoding(7, extra={"tools": [OFFERED], "tool_choice": "required"}),
    Decoding(7, extra={"tools": [OFFERED], "tool_choice": {"type": "function", "function": {"name": "add"}}}),
]


def body(prompt: Any, decoding: Decoding = DECODINGS[0]) -> dict[str, Any]:
    return MESSAGES.body("m", Request("s", prompt, decoding), Wire())


def reply(*content: Any, reason: str = "end_turn", **fields: Any) -> dict[str, Any]:
    """A message of the mock server with other blocks."""
    answer = message_body({"model": "m", "messages": [{"role": "user", "content": "2 and 2"}]}, 1, WrittenReply("four"))
    return answer | ({"content": list(content)} if content else {}) | {"stop_reason": reason} | fields


def read(answer: dict[str, Any]) -> Completion:
    """What we read from a message that the package can read too."""
    TYPES.module.Message.model_validate(answer)
    return read_reply(MESSAGES, 200, json.dumps(answer).encode())


def test_bodies_are_those_of_the_package() -> None:
    for more in [{}, MESSAGES.stream_fields]:
        for decoding in DECODINGS:
            for prompt in PROMPTS:
                sent = body(prompt, decoding) | more
                assert TYPES.read("MessageCreateParams", sent) == sent, (
                    "no field is unknown to the package, none is changed"
                )


def test_a_wrong_body_is_refused_by_the_package() -> None:
    for wrong in ({"messages": "Hi"}, {"max_tokens": None}, {"stop_sequences": 3}):
        with pytest.raises(ValidationError):
            TYPES.read("MessageCreateParams", {**body("Hi"), **wrong})


def test_tools_calls_and_results_have_the_form_of_the_api() -> None:
    sent = body(CALLED, DECODINGS[3])
    schema = {"type": "object", "properties": {}}
    assert sent["tools"] == [{"name": "add", "input_schema": schema, "description": "Add."}]
    assert sent["tool_choice"] == {"type": "any"}
    assert body("Hi", DECODINGS[4])["tool_choice"] == {"type": "tool", "name": "add"}
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I add."},
                {"type": "tool_use", "id": "call00000", "name": "add", "input": {"a": 1}},
                {"type": "tool_use", "id": "call00001", "name": "add", "input": {"arguments": "not JSON"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call00000", "content": "2"},
                {"type": "tool_result", "tool_use_id": "call00001", "content": "4"},
            ],
        },
    ]


def test_calls_and_results_in_the_form_of_openai_become_those_of_the_api() -> None:
    of_openai = [openai_json(message) for message in CALLED]
    assert body(tuple(map(message_from_json, of_openai)), DECODINGS[3]) == body(CALLED, DECODINGS[3])
    calling = next(message for message in of_openai if "tool_calls" in message)
    nothing_said, silent = ({**calling, "content": content} for content in (None, ""))
    assert body((message_from_json(nothing_said),)) == body((message_from_json(silent),))
    calling["tool_calls"][0]["id"] = None
    with pytest.raises(DataError, match="calls add without an id"):
        body((message_from_json(calling),))


def test_the_system_prompt_is_a_field_of_its_own() -> None:
    sent = body(DIALOGUE)
    assert sent["system"] == "Be brief."
    assert sent["messages"] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "2+2?"},
    ]
    two = body((ChatMessage("system", "A"), *DIALOGUE))
    assert two["system"] == [{"type": "text", "text": "A"}, {"type": "text", "text": "Be brief."}]
    assert "system" not in body("Hi")


def test_a_later_system_message_stays_in_its_place() -> None:
    sent = body((*DIALOGUE, ChatMessage("system", "Now in French.")))
    assert sent["messages"][-1] == {"role": "system", "content": "Now in French."}
    assert TYPES.read("MessageCreateParams", sent) == sent


def test_roles_alternate() -> None:
    sent = body((ChatMessage("user", "A"), ChatMessage("user", (DATA,)), ChatMessage("assistant", "B")))
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant"]
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    assert sent["messages"][0]["content"] == [{"type": "text", "text": "A"}, {"type": "image", "source": source}]


def test_images_by_url_stay_urls() -> None:
    [block] = body((ChatMessage("user", (URL,)),))["messages"][0]["content"]
    assert block == {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ((ChatMessage("tool", "4"),), "no role 'tool'"),
        ((ChatMessage("system", "Be brief."),), "needs a message of the user"),
        ((ChatMessage("user", ({"type": "video_url", "video_url": {"url": "https://h/v"}},)),), "'video_url'"),
    ],
)
def test_prompts_that_the_api_does_not_have(prompt: Any, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        body(prompt)


def test_stop_texts_of_white_space_are_not_sent() -> None:
    assert body("Hi", DECODINGS[1])["stop_sequences"] == ["Q:"]
    assert "stop_sequences" not in body("Hi", Decoding(1, stop=("\n\n",)))


def test_an_answer_is_read_with_its_thinking_and_counts() -> None:
    blocks = [
        {"type": "thinking", "thinking": "two", "signature": "x"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "thinking", "thinking": "and two", "signature": "x"},
        {"type": "text", "text": "fo"},
        {"type": "text", "text": "ur"},
    ]
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 200,
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 7},
    }
    found = read(reply(*blocks, usage=usage))
    assert found == Completion("four", "stop", Usage(235, 9, 7, 30, 200), reasoning="two\n\nand two")
    assert Completion.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
    ],
)
def test_stop_reasons(told: str, reason: str) -> None:
    assert read(reply(reason=told)).finish_reason == reason


def test_a_tool_call_is_stored() -> None:
    call = {"type": "tool_use", "id": "t", "name": "add", "input": {"a": 2}}
    found = read(reply(call, reason="tool_use"))
    assert (found.text, found.finish_reason, found.tool_calls) == ("", "tool_calls", (ToolCall("add", '{"a":2}'),))


def test_a_refusal_is_an_answer() -> None:
    assert read(reply(reason="refusal")).refused
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    silent = read(reply(reason="refusal", stop_details=details) | {"content": []})
    assert (silent.text, silent.refused, silent.failure) == ("Not this.", True, None)


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (529, "overloaded_error", "Overloaded", "http_529"),
        (429, "rate_limit_error", "slow down", "http_429"),
        (401, "authentication_error", "invalid x-api-key", "http_401"),
        (404, "not_found_error", "model: x", "http_404"),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "too_long"),
        (400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2", "too_long"),
        (413, "request_too_large", "Request exceeds the maximum size", "too_long"),
        (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "quota"),
        (402, "billing_error", "pay", "quota"),
    ],
)
def test_errors_have_the_kinds_of_other_servers(status: int, kind: str, message: str, expected: str) -> None:
    failure = http_failure(status, json.dumps(error_of_messages(message, kind)).encode())
    assert (failure.kind, failure.message, failure.fatal) == (expected, message, status in (401, 404))
    assert is_temporary(failure) is (status in (429, 529))
    assert (failure.kind in THROTTLED) is (status in (429, 529))


def stream(events: list[str]) -> Completion:
    reader = MessageStream(lambda: 0.0)
    for event in events:
        reader.feed(f"event: {json.loads(event)['type']}\ndata: {event}\n\n".encode())
    return reader.completion()


@pytest.mark.parametrize("reason", ["stop", "length", "refusal"])
@pytest.mark.parametrize("reasoning", ["", "two and two"])
@pytest.mark.parametrize("calls", [(), CALLS])
def test_a_stream_says_the_same_as_the_whole_message(reason: str, reasoning: str, calls: Any) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "2 and 2"}]}
    answer = message_body(asked, 1, WrittenReply("it is four", reason, reasoning, calls))
    events = list(message_events(answer))
    for event in events:
        if json.loads(event)["type"] != "ping":  # the package skips it by name
            TYPES.read_json("RawMessageStreamEvent", event)
    streamed, whole = stream(events), read(answer)
    assert (streamed.text, streamed.reasoning, streamed.usage.completion_tokens) == (
        whole.text,
        whole.reasoning,
        whole.usage.completion_tokens,
    )
    assert (streamed.finish_reason, streamed.refused) == (whole.finish_reason, whole.refused)
    assert streamed.tool_calls == whole.tool_calls
    assert [(call.name, json.loads(call.arguments)) for call in whole.tool_calls] == [
        (call["name"], json.loads(call["arguments"])) for call in calls
    ]
    assert streamed.first_token_seconds == 0.0


def test_the_arguments_of_a_tool_come_in_pieces() -> None:
    start = reply() | {"content": [], "stop_reason": None}
    block = {"type": "tool_use", "id": "t", "name": "add", "input": {}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in ("", '{"a"', ": 2}")
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    for event in events:
        TYPES.read("RawMessageStreamEvent", event)
    assert stream([json.dumps(event) for event in events]).tool_calls == (ToolCall("add", '{"a":2}'),)


def test_arguments_that_are_no_json_are_kept() -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "2 and 2"}]}
    cut = message_body(asked, 1, WrittenReply("", tool_calls=[{"name": "add", "arguments": '{"a": '}]))
    assert stream(list(message_events(cut))).tool_calls == (ToolCall("add", '{"a": '),)


def test_the_mock_server_refuses_what_the_api_refuses() -> None:
    versioned = {"anthropic-version": "2023-06-01"}
    assert message_fault(versioned, body(CALLED, DECODINGS[3])) == ""
    assert "without `tool_result`" in message_fault(versioned, body(CALLED[:2]))
    assert "unexpected `tool_use_id`" in message_fault(versioned, body(CALLED[2:]))
    assert "each tool needs" in message_fault(versioned, body("Hi") | {"tools": [OFFERED]})


def test_a_broken_stream_is_a_failure() -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "2 and 2"}]}
    events = list(message_events(message_body(asked, 1, WrittenReply("it is four"))))
    error = json.dumps(error_of_messages("Overloaded", "overloaded_error"))
    for told, words in ((events[:-1], "ended before the answer did"), ([*events[:4], error], "Overloaded")):
        failure = stream(told).failure
        assert failure is not None
        assert isinstance(failure, Failure)
        assert failure.kind == "broken_stream"
        assert words in failure.message
