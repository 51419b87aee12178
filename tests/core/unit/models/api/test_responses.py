"""Our form of the Responses API beside the types of the ``openai`` package."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from ais_prompt.errors import DataError, PromptError
from ais_prompt.models import RESPONSES, ResponseStream, Wire, WrittenReply, read_reply, response_body, response_events
from ais_prompt.testing.apis import response_fault
from ais_prompt.types import ChatMessage, Completion, Decoding, Request, ToolCall, Usage, message_from_json
from ais_prompt.utils import call_messages, openai_json
from tests.core.unit.models.package_types import PackageTypes

pytestmark = pytest.mark.thorough

TYPES = PackageTypes("openai.types.responses")
TOOL = {"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": True}
OFFERED = {
    "type": "function",
    "function": {"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}},
}
CALLED = (
    ChatMessage("user", "1+1?"),
    *call_messages("I add.", [ToolCall("add", '{"a": 1}')], ["2"], 0),
)
CALLS = ({"name": "add", "arguments": '{"a": 1, "b": [2]}'}, {"name": "now", "arguments": "{}"})
"""For the mock server."""
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
PROMPTS: list[Any] = [
    "Hi",
    (
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "Hi"),
        ChatMessage("assistant", "Hello"),
        ChatMessage("user", "2+2?"),
    ),
    (ChatMessage("user", ({"type": "text", "text": "What?"}, IMAGE)),),
    (ChatMessage("assistant", tuple({"type": "text", "text": text} for text in ("A ", "B"))), ChatMessage("user", "C")),
    CALLED,
]
DECODINGS = [
    Decoding(7),
    Decoding(7, temperature=0.0, top_p=0.5, stop=("\n",), seed=3),
    Decoding(7, extra={"reasoning": {"effort": "high", "summary": "auto"}, "tools": [TOOL], "store": True}),
    Decoding(7, extra={"tools": [OFFERED], "tool_choice": "required"}),
    Decoding(7, extra={"tools": [OFFERED], "tool_choice": {"type": "function", "function": {"name": "add"}}}),
]


def body(prompt: Any, decoding: Decoding = DECODINGS[0]) -> dict[str, Any]:
    return RESPONSES.body("m", Request("s", prompt, decoding), Wire())


def reply(*output: Any, **fields: Any) -> dict[str, Any]:
    """A response of the mock server with other items."""
    answer = response_body({"model": "m", "input": "2 and 2"}, 1, WrittenReply("four"))
    return answer | ({"output": list(output)} if output else {}) | fields


def message(*parts: Any) -> dict[str, Any]:
    return {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": list(parts)}


def read(answer: dict[str, Any]) -> Completion:
    """What we read from a response that the package can read too."""
    TYPES.module.Response.model_validate(answer)
    return read_reply(RESPONSES, 200, json.dumps(answer).encode())


def test_bodies_are_those_of_the_package() -> None:
    for more in [{}, RESPONSES.stream_fields]:
        for decoding in DECODINGS:
            for prompt in PROMPTS:
                sent = body(prompt, decoding) | more
                assert TYPES.read("ResponseCreateParams", sent) == sent, (
                    "no field is unknown to the package, none is changed"
                )


def test_tools_calls_and_results_have_the_form_of_the_api() -> None:
    sent = body(CALLED, DECODINGS[4])
    assert sent["tools"] == [{**OFFERED["function"], "type": "function", "strict": False}]  # type: ignore[dict-item]
    assert sent["tool_choice"] == {"type": "function", "name": "add"}
    assert sent["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "I add."},
        {"type": "function_call", "call_id": "call00000", "name": "add", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "call00000", "output": "2"},
    ]


def test_calls_and_results_in_the_form_of_openai_become_those_of_the_api() -> None:
    of_openai = [openai_json(message) for message in CALLED]
    assert body(tuple(map(message_from_json, of_openai)), DECODINGS[4]) == body(CALLED, DECODINGS[4])
    calling = next(message for message in of_openai if "tool_calls" in message)
    nothing_said, silent = ({**calling, "content": content} for content in (None, ""))
    assert body((message_from_json(nothing_said),)) == body((message_from_json(silent),))
    calling["tool_calls"][0]["id"] = None
    with pytest.raises(DataError, match="calls add without an id"):
        body((message_from_json(calling),))


def test_a_wrong_body_is_refused_by_the_package() -> None:
    for wrong in ({"input": 3}, {"temperature": "warm"}, {"store": []}):
        with pytest.raises(ValidationError):
            TYPES.read("ResponseCreateParams", {**body("Hi"), **wrong})


def test_a_dialogue_becomes_items() -> None:
    assert body(PROMPTS[1])["input"] == [
        {"type": "message", "role": "system", "content": "Be brief."},
        {"type": "message", "role": "user", "content": "Hi"},
        {"type": "message", "role": "assistant", "content": "Hello"},
        {"type": "message", "role": "user", "content": "2+2?"},
    ]
    assert body(PROMPTS[2])["input"][0]["content"] == [
        {"type": "input_text", "text": "What?"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
    ]
    assert body(PROMPTS[3])["input"][0] == {"type": "message", "role": "assistant", "content": "A B"}


def test_the_reasoning_effort_has_the_name_of_chat_completions_too() -> None:
    both = {"reasoning_effort": "low", "reasoning": {"summary": "auto"}}
    assert body("Hi", Decoding(1, extra=both))["reasoning"] == {"effort": "low", "summary": "auto"}
    assert "reasoning_effort" not in body("Hi", Decoding(1, extra=both))


def test_nothing_is_stored_and_no_option_is_sent_that_the_api_does_not_have() -> None:
    sent = body("Hi", DECODINGS[1])
    assert sent == {
        "model": "m",
        "input": [{"type": "message", "role": "user", "content": "Hi"}],
        "max_output_tokens": 7,
        "store": False,
        "stream": False,
        "temperature": 0.0,
        "top_p": 0.5,
    }


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (ChatMessage("tool", "4"), "no role 'tool'"),
        (ChatMessage("user", ({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},)), "no part"),
        (ChatMessage("assistant", (IMAGE,)), "no media from the assistant"),
    ],
)
def test_prompts_that_the_api_does_not_have(told: ChatMessage, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        body((told, ChatMessage("user", "Hi")))


def test_an_answer_is_read_with_its_reasoning_and_counts() -> None:
    thought = {"id": "r", "type": "reasoning", "summary": [{"type": "summary_text", "text": "two and two"}]}
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in ("fo", "ur")]
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 14,
    }
    search = {"id": "w", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "2+2"}}
    found = read(reply(thought, search, message(*parts), usage=usage))
    assert found == Completion("four", "stop", Usage(9, 5, 3, 4, 2), reasoning="two and two")
    assert found.text == TYPES.module.Response.model_validate(reply(message(*parts))).output_text
    assert Completion.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_reasoning_in_plain_text_goes_before_its_summary() -> None:
    thought = {
        "id": "r",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}],
    }
    assert read(reply(thought)).reasoning == "long"


def test_a_refusal_is_an_answer() -> None:
    found = read(reply(message({"type": "refusal", "refusal": "I cannot."})))
    assert (found.text, found.refused, found.failure) == ("I cannot.", True, None)


def test_a_tool_call_is_stored() -> None:
    call = {"id": "f", "type": "function_call", "call_id": "c", "name": "add", "arguments": '{"a": 2}'}
    found = read(reply(call))
    assert (found.text, found.finish_reason, found.tool_calls) == ("", "tool_calls", (ToolCall("add", '{"a": 2}'),))
    assert Completion.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize(
    ("cause", "reason", "failure"),
    [
        ("max_output_tokens", "length", None),
        ("content_filter", None, "content_filter"),
        ("max_messages", None, "broken_answer"),
    ],
)
def test_an_incomplete_response_says_why(cause: str, reason: str | None, failure: str | None) -> None:
    found = read(reply(status="incomplete", incomplete_details={"reason": cause}))
    assert found.finish_reason == reason
    assert (found.failure.kind if found.failure else None) == failure


@pytest.mark.parametrize(
    ("code", "kind"),
    [("server_error", "http_500"), ("rate_limit_exceeded", "http_429"), ("invalid_image", "response_invalid_image")],
)
def test_a_failed_response_is_a_failure(code: str, kind: str) -> None:
    found = read(reply(status="failed", error={"code": code, "message": "no"}))
    assert found.failure
    assert (found.failure.kind, found.failure.message) == (kind, "no")


def test_a_response_that_is_not_done_is_no_answer() -> None:
    found = read(reply(status="queued"))
    assert found.failure
    assert found.failure.kind == "broken_answer"


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
@pytest.mark.parametrize("reasoning", ["", "two and two"])
@pytest.mark.parametrize("calls", [(), CALLS])
def test_a_stream_says_the_same_as_the_whole_response(reason: str, reasoning: str, calls: Any) -> None:
    answer = response_body({"model": "m", "input": "2 and 2"}, 1, WrittenReply("it is four", reason, reasoning, calls))
    reader = ResponseStream(lambda: 0.0)
    for event in response_events(answer):
        TYPES.read_json("ResponseStreamEvent", event)
        reader.feed(f"event: {json.loads(event)['type']}\ndata: {event}\n\n".encode())
    streamed = reader.completion()
    whole = read(answer)
    assert (streamed.text, streamed.reasoning, streamed.usage) == (whole.text, whole.reasoning, whole.usage)
    assert (streamed.finish_reason, streamed.failure) == (whole.finish_reason, whole.failure)
    called = tuple(ToolCall(call["name"], call["arguments"]) for call in calls)
    assert streamed.tool_calls == whole.tool_calls == (() if whole.failure else called)
    assert (streamed.first_token_seconds is None) is (whole.failure is not None)


def test_the_mock_server_refuses_what_the_api_refuses() -> None:
    assert response_fault(body(CALLED, DECODINGS[3])) == ""
    assert "No tool output found" in response_fault(body(CALLED[:2]))
    assert "No tool call found" in response_fault(body((CALLED[0], CALLED[2])))
    assert "'tools[0].name'" in response_fault(body("Hi") | {"tools": [OFFERED]})


def test_a_broken_stream_is_a_failure() -> None:
    answer = response_body({"model": "m", "input": "2 and 2"}, 1, WrittenReply("it is four"))
    events = list(response_events(answer))
    error = json.dumps({"type": "error", "code": "server_error", "message": "overloaded", "sequence_number": 1})
    for told in (events[:-1], [*events[:2], error]):
        reader = ResponseStream()
        for event in told:
            reader.feed(f"data: {event}\n\n".encode())
        failure = reader.completion().failure
        assert failure
        assert failure.kind == "broken_stream"
