"""The mock server's likelihoods: real probabilities, in the formats of the servers that it imitates."""

from __future__ import annotations

import math
import string
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import WrittenReply, answer_body
from ais_prompt.testing.scoring import LetterModel, asks_for_log_probs, scored_answer

MODEL = LetterModel()
PROMPT = "Is it so?"


def total(text: str) -> float:
    """Log-likelihood of all tokens but the first."""
    return math.fsum(token.log_prob or 0.0 for token in MODEL.read(text))


@pytest.mark.parametrize("letter", ["e", "z"])
def test_the_probabilities_of_all_letters_sum_to_one(letter: str) -> None:
    known = [math.exp(MODEL.letter(letter, sign)) for sign in string.printable]
    unseen = math.exp(MODEL.letter(letter, "\u4e2d")) * (
        0x110000 - len(known)
    )  # those that stand nowhere in its corpus
    assert math.fsum(known) + unseen == pytest.approx(1.0)


@given(st.text("Is it so. ", min_size=1), st.text("Is it so. "))
def test_a_text_is_as_likely_as_its_letters(start: str, end: str) -> None:
    first = MODEL.read(start + end)[0].text
    assert total(start + end) == pytest.approx(letters(start + end) - letters(first))


def letters(text: str) -> float:
    return math.fsum(MODEL.letter(*pair) for pair in pairwise(text))


def answer(**body: Any) -> dict[str, Any]:
    assert asks_for_log_probs(body)
    return scored_answer(answer_body(body, 1, WrittenReply("")), body, MODEL)


def test_echo() -> None:
    reply = answer(prompt=PROMPT, echo=True, logprobs=2, max_tokens=1)
    [choice] = reply["choices"]
    told = choice["logprobs"]
    assert choice["text"].startswith(PROMPT)
    assert "".join(told["tokens"]) == choice["text"]
    assert told["token_logprobs"][0] is None
    assert [len(values) for values in told.values()] == [reply["usage"]["total_tokens"]] * 4
    assert [choice["text"][place:][:1] for place in told["text_offset"]] == [token[:1] for token in told["tokens"]]
    best = told["top_logprobs"][-1]
    assert next(iter(best)) == told["tokens"][-1]
    assert best[told["tokens"][-1]] == max(best.values()) == told["token_logprobs"][-1]


def test_echo_without_an_answer() -> None:
    reply = answer(prompt=PROMPT, echo=True, logprobs=1, max_tokens=0)
    assert reply["choices"][0]["text"] == PROMPT
    assert len(reply["choices"][0]["logprobs"]["tokens"]) == reply["usage"]["prompt_tokens"] == 4


def test_prompt_logprobs() -> None:
    [choice] = answer(prompt=PROMPT, prompt_logprobs=0)["choices"]
    first, *others = choice["prompt_logprobs"]
    assert first is None
    assert "".join(entry["decoded_token"] for [entry] in map(dict.values, others)) == " it so?"
    chat = answer(messages=[{"role": "user", "content": PROMPT}], prompt_logprobs=0, add_generation_prompt=False)
    assert len(chat["prompt_logprobs"]) == len(MODEL.read("user: Is it so?\n"))


def test_other_requests_are_not_scored() -> None:
    assert not asks_for_log_probs({"prompt": PROMPT})
    assert not asks_for_log_probs({"messages": [], "logprobs": True})
