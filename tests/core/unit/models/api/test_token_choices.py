"""Alternatives of generated tokens: how they are asked for, and read in a reply or a stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.inferencers import GenInferencer
from ais_prompt.models.api.chat import CHAT, COMPLETIONS, tokens_of
from ais_prompt.models.model_options import Wire
from ais_prompt.types import Completion, Decoding, GeneratedToken, Request

FOUR = GeneratedToken(" 4", -0.5, {" 4": -0.5, " 5": -1.25})
TOKENS = (GeneratedToken("Rating:", -0.01, {"Rating:": -0.01}), FOUR)
CHAT_CONTENT = [
    {
        "token": token.text,
        "logprob": token.log_prob,
        "bytes": None,
        "top_logprobs": [{"token": text, "logprob": value} for text, value in token.alternatives.items()],
    }
    for token in TOKENS
]
LISTS: dict[str, list[Any]] = {
    "tokens": [token.text for token in TOKENS],
    "token_logprobs": [token.log_prob for token in TOKENS],
    "top_logprobs": [dict(token.alternatives) for token in TOKENS],
}


def test_both_forms_of_a_reply_are_read() -> None:
    chat = {"message": {"content": "Rating: 4"}, "finish_reason": "stop", "logprobs": {"content": CHAT_CONTENT}}
    plain = {"text": "Rating: 4", "finish_reason": "stop", "logprobs": LISTS}
    for endpoint, choice in ((CHAT, chat), (COMPLETIONS, plain)):
        found = endpoint.answer({"choices": [choice]})
        assert (found.text, found.tokens) == ("Rating: 4", TOKENS)
        assert Completion.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_stream_has_the_tokens_of_all_pieces() -> None:
    for endpoint, field, piece in (
        (CHAT, "delta", lambda token: {"content": [CHAT_CONTENT[token]]}),
        (COMPLETIONS, "", lambda token: {name: [LISTS[name][token]] for name in LISTS}),
    ):
        reader = endpoint.reader(lambda: 0.0)
        for place, token in enumerate(TOKENS):
            said = {field: {"content": token.text}} if field else {"text": token.text}
            choice = {**said, "index": 0, "logprobs": piece(place), "finish_reason": "stop" if place else None}
            reader.feed(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        assert reader.completion().tokens == TOKENS


@pytest.mark.parametrize(
    "logprobs",
    [
        *(None, [], ""),
        *({"content": None}, {"content": [None, {"token": 4}]}, {"content": [{"token": "4", "logprob": -1}]}),
        *({"tokens": ["4"], "token_logprobs": [None], "top_logprobs": None}, {"tokens": 4, "top_logprobs": [{}]}),
    ],
)
def test_other_values_are_no_tokens(logprobs: Any) -> None:
    assert tokens_of(logprobs) == ()


def test_the_fields_of_each_api() -> None:
    decoding = Decoding(5, extra={"top_logprobs": 20})
    assert CHAT.body("m", Request("s", "p", decoding), Wire())["logprobs"] is True
    assert CHAT.body("m", Request("s", "p", decoding), Wire())["top_logprobs"] == 20
    body = COMPLETIONS.body("m", Request("s", "p", decoding), Wire())
    assert (body["logprobs"], "top_logprobs" in body) == (20, False)
    assert COMPLETIONS.body("m", Request("s", "p", Decoding(5, extra={"logprobs": 3})), Wire())["logprobs"] == 3
    with pytest.raises(ConfigError, match="top_logprobs"):
        GenInferencer(top_logprobs=0)
