"""Log-probabilities of prompt tokens in the replies of servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.models import CHAT, COMPLETIONS, TOP, TokenLogProbs, read_log_probs, read_top, ways_of
from ais_prompt.types import Failure

PROMPT = "So it"
PROMPT_LOGPROBS, ECHO = ways_of(COMPLETIONS, None)


def entry(token: int, value: Any, **others: Any) -> dict[str, Any]:
    return {str(token): {"logprob": value, "rank": 1, "decoded_token": "x"}, **others}


def echoed(tokens: list[Any], values: list[Any], *, text: str = "So it is", prompt_tokens: Any = 2) -> dict[str, Any]:
    lists = {"tokens": tokens, "token_logprobs": values, "text_offset": [0] * len(tokens)}
    return {"choices": [{"text": text, "logprobs": lists}], "usage": {"prompt_tokens": prompt_tokens}}


def read(way: Any, reply: Any, status: int = 200) -> TokenLogProbs | Failure:
    return read_log_probs(way, PROMPT, status, json.dumps(reply).encode())


def kind(outcome: Any) -> tuple[str, str]:
    assert isinstance(outcome, Failure)
    return outcome.kind, outcome.message


@pytest.mark.parametrize("place", ["reply", "choice"])
def test_prompt_logprobs_name_tokens_by_their_ids(place: str) -> None:
    count = {"prompt_logprobs": [None, entry(7, -1.5), entry(9, -2.0, **entry(3, -0.1))]}
    reply = {"choices": [count if place == "choice" else {}], **(count if place == "reply" else {})}
    assert read(PROMPT_LOGPROBS, reply) == TokenLogProbs(("", "7", "9"), (None, -1.5, -2.0), "xx")


def test_echo_gives_the_tokens_before_the_answer() -> None:
    reply = echoed(["So", " it", " is"], [None, -1.5, -0.1])
    assert read(ECHO, reply) == TokenLogProbs(("So", " it"), (None, -1.5))


@pytest.mark.parametrize("count", [2, None])
def test_an_answer_without_text_may_have_a_token_or_none(count: int | None) -> None:
    reply = echoed(["So", " it"], [None, -1.5], text=PROMPT, prompt_tokens=count)
    assert read(ECHO, reply) == TokenLogProbs(("So", " it"), (None, -1.5))
    if count:
        ended = echoed(["So", " it", "</s>"], [None, -1.5, -0.1], text=PROMPT, prompt_tokens=count)
        assert read(ECHO, ended) == TokenLogProbs(("So", " it"), (None, -1.5))


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"choices": [{"text": "is", "logprobs": None}]}, "echo was ignored"),
        ({"choices": [{"logprobs": None}]}, "echo was ignored"),
        ({"choices": [{"text": "So it is", "logprobs": None}]}, "has no logprobs with tokens and token_logprobs"),
        ({"choices": [{"text": "So it is", "logprobs": {"content": []}}]}, "has no logprobs with tokens"),
        (echoed(["So", " it", " is"], [None, -1.5]), "has no logprobs with tokens"),
        (echoed([], [], text=PROMPT, prompt_tokens=0), "has no tokens"),
        (echoed([" is"], [-0.1]), "the prompt has 2 tokens, and logprobs has 1"),
        (
            echoed(["So", " it", " is"], [None, -1.5, -0.1], prompt_tokens=None),
            "an unknown number of tokens",
        ),
        (echoed(["So", " it", " is"], [None, -1.5, -0.1], prompt_tokens=3), "the prompt has 3 tokens"),
        (echoed(["So", " it", " is", " it"], [None, -1.5, -0.1, -2.0]), "the prompt has 2 tokens, and logprobs has 4"),
        (echoed(["So", " it", " is"], [-9.0, -1.5, -0.1]), "the first token has a log-probability"),
    ],
    ids=str,
)
def test_an_ambiguous_echo_is_refused(reply: Any, words: str) -> None:
    outcome = kind(read(ECHO, reply))
    assert outcome[0] == "no_logprobs"
    assert words in outcome[1]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (None, "has no prompt_logprobs"),
        ([], "has no prompt_logprobs"),
        ({}, "has no prompt_logprobs"),
        ([None, [1]], "is not a list of {token: {logprob: ...}}"),
        ([None, {}], "is not a list of {token: {logprob: ...}}"),
        ([None, {"7": -1.5}], "is not a list of {token: {logprob: ...}}"),
        ([entry(7, -1.5), entry(9, -2.0)], "the first token has a log-probability"),
        ([None, entry(7, -1.5), entry(9, -2.0)], "the prompt has 2 tokens, and prompt_logprobs 3"),
    ],
    ids=str,
)
def test_ambiguous_prompt_logprobs_are_refused(count: Any, words: str) -> None:
    reply = {"choices": [{"prompt_logprobs": count}], "usage": {"prompt_tokens": 2}}
    outcome = kind(read(PROMPT_LOGPROBS, reply))
    assert outcome[0] == "no_logprobs"
    assert words in outcome[1]


@pytest.mark.parametrize("way", [ECHO, PROMPT_LOGPROBS], ids=lambda way: way.name)
def test_a_reply_of_another_form(way: Any) -> None:
    for reply in ({}, [], {"choices": []}, {"choices": [3]}, "no"):
        assert kind(read(way, reply))[0] == "bad_body"
    assert kind(read_log_probs(way, PROMPT, 200, b"<html>"))[0] == "bad_body"
    assert kind(read(way, {"error": {"message": "busy"}}, 503)) == ("http_503", "busy")
    refused = read(way, {"error": {"message": "this model's maximum context length is 4"}}, 400)
    assert kind(refused)[0] == "too_long"


def top_reply(top: Any) -> bytes:
    return json.dumps({"choices": [{"text": "a", "logprobs": {"top_logprobs": top}}]}).encode()


def test_the_likeliest_next_tokens() -> None:
    top = {letter: -float(number) for number, letter in enumerate("abcde")}
    assert len(top) == TOP
    assert read_top(200, top_reply([top])) == top
    assert read_top(200, top_reply([{**top, "a": None, "f": -9999.0}])) == {k: top[k] for k in "bcde"}


def test_merged_next_tokens_are_ignored() -> None:
    """Two tokens with the same text leave one entry less."""
    assert read_top(200, top_reply([{"a": -1.0, "b": -2.0, "c": -3.0, "d": -4.0}])) == {}


@pytest.mark.parametrize("top", [None, [], [None], [[]], {}])
def test_no_next_tokens(top: Any) -> None:
    assert read_top(200, top_reply(top)) == {}
    assert read_top(400, b"logprobs must be at most 1") == {}
    assert kind(read_top(500, b"no"))[0] == "http_500"


def test_the_ways_of_each_endpoint() -> None:
    assert [way.name for way in ways_of(CHAT, None)] == ["prompt_logprobs"]
    assert [way.name for way in ways_of(COMPLETIONS, "echo")] == ["echo"]
    with pytest.raises(ConfigError, match="cannot be 'echo' for chat/completions") as raised:
        ways_of(CHAT, "echo")
    assert "prompt_logprobs" in raised.value.fix
