"""The wire format: what is sent for a request, and what is read from a reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import PromptError
from ais_prompt.models import CHAT, COMPLETIONS, Wire, read_reply
from ais_prompt.types import ChatMessage, Completion, Decoding, Failure, Request, Usage

IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def reply(status: int = 200, **body: Any) -> Completion:
    return read_reply(CHAT, status, json.dumps(body).encode())


def choice(content: Any, reason: str | None = "stop") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": reason}]}


def test_options_that_are_none_are_not_sent() -> None:
    request = Request("s", (ChatMessage("system", "Be brief."), ChatMessage("user", "Hi")), Decoding(7))
    assert CHAT.body("m", request, Wire()) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "max_tokens": 7,
    }


def test_all_of_the_decoding_is_sent() -> None:
    decoding = Decoding(7, temperature=0.0, top_p=0.5, stop=("\n", "Q"), seed=3, extra={"logprobs": True, "top_k": 5})
    body = COMPLETIONS.body(
        "m", Request("s", "1+1=", decoding, repeat=2), Wire(max_tokens_field="max_completion_tokens")
    )
    assert body == {
        "model": "m",
        "prompt": "1+1=",
        "max_completion_tokens": 7,
        "temperature": 0.0,
        "top_p": 0.5,
        "seed": 5,
        "stop": ["\n", "Q"],
        "logprobs": True,
        "top_k": 5,
    }


def test_prompts_find_their_form() -> None:
    parts = CHAT.body("m", Request("s", (ChatMessage("user", (IMAGE,)),), Decoding(1)), Wire())
    assert parts["messages"] == [{"role": "user", "content": [IMAGE]}]
    text = CHAT.body("m", Request("s", "Hi", Decoding(1)), Wire())
    assert text["messages"] == [{"role": "user", "content": "Hi"}]
    with pytest.raises(PromptError, match="text, not messages"):
        COMPLETIONS.body("m", Request("s", (ChatMessage("user", "Hi"),), Decoding(1)), Wire())


def test_an_answer_is_read() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    assert reply(**choice("4"), usage=usage) == Completion("4", "stop", Usage(5, 1))
    body = json.dumps({"choices": [{"text": " 4", "finish_reason": "length"}]}).encode()
    assert read_reply(COMPLETIONS, 200, body) == Completion(" 4", "length", Usage())


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        (None, "unknown"),
    ],
)
def test_finish_reasons(sent: str | None, reason: str) -> None:
    assert reply(**choice("4", sent)).finish_reason == reason


def test_content_has_three_forms() -> None:
    assert reply(**choice(None, "tool_calls")).text == ""
    assert reply(**choice([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])).text == "ab"
    assert reply(**choice("")).failure is None, "an empty answer is an answer"


def test_a_filtered_answer_is_a_failure() -> None:
    failure = reply(**choice("The bomb is", "content_filter")).failure
    assert failure
    assert (failure.kind, failure.fatal) == ("content_filter", False)
    prompt = reply(400, error={"message": "The prompt was filtered", "code": "content_filter"})
    assert prompt.failure == Failure("content_filter", "The prompt was filtered")
    stored = {"text": "The bomb is", "finish_reason": "content_filter", "usage": {}, "seconds": 1.0, "attempts": 1}
    assert Completion.from_json(stored).failure, "of an earlier version, which took it for an answer"


def test_a_refusal_is_an_answer_that_is_marked() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    completion = reply(choices=[{"message": message, "finish_reason": "stop"}])
    assert completion == Completion("I cannot help with that.", "stop", refused=True)
    assert Completion.from_json(completion.to_json()) == completion
    assert not reply(choices=[{"message": {"content": "4", "refusal": None}, "finish_reason": "stop"}]).refused


def test_the_first_of_several_choices_is_the_answer() -> None:
    choices = [{"index": number, "message": {"content": str(number)}, "finish_reason": "stop"} for number in (1, 0)]
    assert reply(choices=choices).text == "0"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>busy</html>",
        b"",
        b"[]",
        b"null",
        b"\xff\xfe\xfa",
        b"[" * 100_000,
        b'{"choices": [{"message": {"content": "4"}}], "deep": %b}' % (b"[" * 600 + b"]" * 600),
        b'{"choices": null}',
        b'{"choices": [1]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": {"content": 4}}]}',
        b'{"choices": [{"message": {"content": [{"type": "text", "text": null}]}}]}',
    ],
)
def test_a_reply_without_an_answer_is_a_bad_body(body: bytes) -> None:
    completion = read_reply(CHAT, 200, body)
    assert completion.failure
    assert (completion.failure.kind, completion.failure.fatal) == ("bad_body", False)


def test_an_error_in_a_good_reply_is_shown() -> None:
    assert reply(error={"message": "upstream is down", "code": 502}).failure == Failure("http_502", "upstream is down")
    assert reply(object="error", message="down", code="503").failure == Failure("http_503", "down")
    failure = reply(error={"message": "upstream is down", "code": "E7"}).failure
    assert failure
    assert failure.kind == "bad_body"
    assert "upstream is down" in failure.message


def test_no_choices_at_all() -> None:
    failure = reply(choices=[]).failure
    assert failure
    assert failure.kind == "empty_choices"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 503])
def test_an_http_error_has_its_status_and_the_message_of_the_server(status: int) -> None:
    fatal = status in (401, 403, 404)
    for body in ({"error": {"message": "no"}}, {"error": "no"}, {"message": "no"}, {"detail": "no"}):
        assert reply(status, **body).failure == Failure(f"http_{status}", "no", fatal)
    assert read_reply(CHAT, status, b"no\n").failure == Failure(f"http_{status}", "no", fatal)
    silent = read_reply(CHAT, status, b"").failure
    assert silent
    assert str(status) in silent.message


@given(st.integers(100, 599), JSON.map(lambda value: json.dumps(value).encode()) | st.binary())
def test_whatever_comes_back_is_read(status: int, body: bytes) -> None:
    completion = read_reply(CHAT, status, body)
    assert completion.failure is None or completion.failure.kind
