"""Streamed answers: assembled from chunks, timed, and refused when incomplete."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import CHAT, ChatStream, OpenAIChatModel, OpenAICompletionModel, OpenAIModel, Retry
from ais_prompt.types import Completion, Request, Usage
from tests.support.servers import MockServer
from tests.support.waiting import STALL_SECONDS, WATCHDOG_SECONDS

pytestmark = pytest.mark.process


def events(*chunks: Any, done: bool = True) -> bytes:
    texts = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in chunks]
    return "".join(f"data: {text}\n\n" for text in [*texts, *(["[DONE]"] if done else [])]).encode()


def delta(content: Any = None, reason: str | None = None, **more: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content, **more}, "finish_reason": reason}]}


def read(body: bytes, cuts: Sequence[int] = ()) -> Completion:
    ticks = iter(range(1000))
    reader = ChatStream(lambda: float(next(ticks)))
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(body)], strict=True):
        reader.feed(body[start:end])
    return reader.completion()


THINKING: list[tuple[Any, str, str]] = [
    (
        [{"type": "thinking", "thinking": [{"type": "text", "text": "2 and"}, {"type": "text", "text": " 2"}]}],
        "",
        "2 and 2",
    ),
    ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "4"}], "4", "hm"),
    ([{"type": "reasoning", "reasoning": "so"}, {"type": "text", "text": " or 5"}], " or 5", "so"),
    ([{"type": "reference", "reference_ids": [1]}], "", ""),
    (["six"], "six", ""),
    ([], "", ""),
    (None, "", ""),
]
"""Contents of messages in parts, as Mistral has them: text and reasoning of each."""


def test_contents_in_parts_are_text_and_reasoning_in_streams_and_in_replies() -> None:
    whole = read(events(*(delta(content) for content, _, _ in THINKING), delta("!", "stop")))
    assert whole.text == "".join(text for _, text, _ in THINKING) + "!"
    assert whole.reasoning == "".join(reasoning for _, _, reasoning in THINKING)
    for content, text, reasoning in THINKING:
        found = CHAT.answer({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})
        assert (found.text, found.reasoning) == (text, reasoning)


@pytest.mark.parametrize("content", [4, {"text": "4"}, [{"type": "text", "text": 4}]])
def test_contents_without_a_text_are_a_broken_stream(content: Any) -> None:
    failure = read(events(delta(content, "stop"))).failure
    assert failure
    assert failure.kind == "broken_stream"


WHOLE = events(
    delta("", role="assistant"),
    delta("four"),
    delta("–\ud83d\ude00 "),
    delta("teen"),
    delta(None, "length"),
    {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}},
)


def test_chunks_become_an_answer_with_its_times() -> None:
    assert read(WHOLE) == Completion("four–😀 teen", "length", Usage(5, 3), first_token_seconds=2.0, token_seconds=1.0)


@given(st.lists(st.integers(0, len(WHOLE)), max_size=6))
def test_it_does_not_matter_where_the_bytes_are_cut(cuts: list[int]) -> None:
    assert read(WHOLE, cuts) == read(WHOLE)


@pytest.mark.parametrize("ending", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("cut", [None, 1, 2, 3, 50])
def test_line_endings_comments_and_a_byte_order_mark(ending: bytes, cut: int | None) -> None:
    body = b"\xef\xbb\xbf" + WHOLE.replace(b"\n\n", b"\n: still here\nid: 7\n\n").replace(b"\n", ending)
    cuts = range(cut, len(body), cut) if cut else ()
    assert (read(body, cuts).text, read(body, cuts).finish_reason) == ("four–😀 teen", "length")


def test_other_choices_are_not_mixed_in() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    assert read(events(delta("four"), other, delta(None, "stop"), other)).text == "four"
    assert read(events(delta("four"), other, delta(None, "stop"), other)).finish_reason == "stop"


def test_a_refusal_comes_in_pieces_too() -> None:
    completion = read(events(delta(refusal="I "), delta(refusal="cannot."), delta(None, "stop")))
    assert (completion.text, completion.refused, completion.failure) == ("I cannot.", True, None)


def test_a_filtered_stream_is_a_failure() -> None:
    failure = read(events(delta("The bomb"), delta(None, "content_filter"))).failure
    assert failure
    assert failure.kind == "content_filter"


def test_reasoning_is_separated_and_timed() -> None:
    body = events(delta(reasoning_content="let me "), delta(reasoning="see"), delta("4"), delta("", "stop"))
    completion = read(body)
    assert (completion.text, completion.reasoning) == ("4", "let me see")
    assert (completion.first_token_seconds, completion.token_seconds) == (1.0, 1.0)


@pytest.mark.parametrize(
    "body",
    [
        WHOLE.replace(b"\n", b"\r\n"),
        b": a comment\n\nevent: message\nid: 7\n" + WHOLE,
        WHOLE.replace(b"data: ", b"data:"),
        WHOLE.removesuffix(b"\n\n"),
        WHOLE.replace(b"data: [DONE]\n\n", b""),  # some servers do not say it
    ],
)
def test_forms_that_servers_use(body: bytes) -> None:
    assert read(body).text == "four–😀 teen"


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b"", "broken_stream", "ended before"),
        (events(delta("four"), done=False), "broken_stream", "ended before"),
        (WHOLE[:200], "broken_stream", ""),
        (events("{"), "broken_stream", "not JSON"),
        (events(delta("a"), {"error": {"message": "out of memory", "code": 500}}), "http_500", "out of memory"),
        (events(delta("a"), {"error": {"message": "out of memory"}}), "broken_stream", "out of memory"),
        (events({"choices": [{"delta": {"content": 4}}]}), "broken_stream", "no text"),
        (events({"choices": 1}), "broken_stream", "no choice"),
        (events(), "empty_choices", "no choice"),
        # an error as JSON, with the status of an answer
        (b'{"error": {"message": "Incorrect API key", "code": 401}}', "http_401", "Incorrect API key"),
        (b'{\n "error": {\n  "message": "Incorrect API key"\n }\n}\n', "bad_body", "Incorrect API key"),
        (b'{"error": {"code": "insufficient_quota", "message": "no money"}}', "quota", "no money"),
        (b"upstream is busy", "bad_body", "upstream is busy"),
    ],
)
def test_an_incomplete_stream_is_a_failure(body: bytes, kind: str, words: str) -> None:
    completion = read(body)
    assert completion.failure
    assert (completion.failure.kind, completion.text) == (kind, "")
    assert words in completion.failure.message


@given(st.binary() | st.lists(st.binary()).map(lambda lines: b"".join(b"data: " + line + b"\n\n" for line in lines)))
def test_any_bytes_are_read(body: bytes) -> None:
    assert read(body).failure


def ask(model: OpenAIModel, server: MockServer, *rules: dict[str, Any]) -> Completion:
    server.follow(*rules)
    model.retry = Retry(model.retry.retries, first_wait=0.01)

    async def asked() -> Completion:
        await model.open()
        try:
            return await model.complete(Request("s", "3+4=?", model.decoding(None, ())))
        finally:
            await model.aclose()

    return asyncio.run(asked())


@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAICompletionModel])
def test_a_served_answer_is_timed(server: MockServer, kind: type[OpenAIModel]) -> None:
    model = kind("mock", server.base_url, stream=True)
    completion = ask(model, server, {"answer": "one two three", "latency": 0.1, "pause": 0.05})
    assert (completion.text, completion.finish_reason, completion.usage) == ("one two three", "stop", Usage(1, 3))
    assert completion.first_token_seconds is not None
    assert completion.token_seconds is not None
    assert 0.1 <= completion.first_token_seconds < completion.seconds
    assert completion.token_seconds > 0
    assert completion.first_token_seconds + 2 * completion.token_seconds <= completion.seconds + 1e-6
    assert Completion.from_json(completion.to_json()) == completion
    [request] = server.requests()
    assert (request["body"]["stream"], request["body"]["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ({"pieces": 3}, "broken_stream"),
        ({"pieces": 3, "drop": "midway"}, "connection"),
        ({"pieces": 3, "stall": STALL_SECONDS}, "timeout"),
        ({"events": ["{", "[DONE]"]}, "broken_stream"),
        ({"events": ['{"error": {"message": "the engine died"}}']}, "broken_stream"),
        ({"events": ["[DONE]"]}, "empty_choices"),
        ({"raw": "<html>busy</html>"}, "bad_body"),
        ({"status": 503, "body": {"error": "busy"}}, "http_503"),
    ],
)
def test_a_broken_stream_is_retried_from_its_beginning(server: MockServer, rule: dict[str, Any], kind: str) -> None:
    model = OpenAIChatModel(
        "mock", server.base_url, stream=True, timeout=1.0 if kind == "timeout" else WATCHDOG_SECONDS, retry=1
    )
    answer = {"answer": "one two three four"}
    completion = ask(model, server, {**answer, **rule, "times": 1}, answer)
    assert (completion.text, completion.attempts) == ("one two three four", 2)
    failure = ask(model, server, {**answer, **rule}).failure
    assert failure
    assert failure.kind == kind
