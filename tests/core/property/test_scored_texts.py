"""A text that a server has scored has the likelihood that a local model would have given it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ais_prompt.models import EMPTY, TokenLogProbs, TokenRow, continued, query_row, whole
from ais_prompt.testing.scoring import LetterModel
from ais_prompt.types import Completion, Failure, LikelihoodQuery

MODEL = LetterModel()
texts = st.text("ab é.\n", max_size=12)


class Tokenizer:
    """Knows the tokens that it has seen."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def encode(self, text: str) -> list[int]:
        self.texts |= {token.id: token.text for token in MODEL.read(text)}
        return [token.id for token in MODEL.read(text)]

    def decode(self, ids: Sequence[int], **_: Any) -> str:
        return "".join(self.texts[one] for one in ids)


TOKENIZER = Tokenizer()
encode = TOKENIZER.encode


def local(prompt: str, scoring: LikelihoodQuery) -> Completion:
    """As it is computed in this process; the numbers are looked up by the place of a token."""
    row = query_row(prompt, scoring, TOKENIZER, encode)
    if isinstance(row, Failure):
        return Completion(failure=row)
    assert isinstance(row, TokenRow)
    values = [token.log_prob for token in MODEL.read(prompt + (scoring.continuation or ""))]
    return row.completion([values[place + 1] or 0.0 for place, _ in row.wanted], 0.0)


def told(text: str, by_id: bool) -> TokenLogProbs:
    """As a server tells it: with the texts of the tokens, or with the ids and texts of all but the first."""
    tokens = MODEL.read(text)
    values = tuple(token.log_prob for token in tokens)
    if not by_id:
        return TokenLogProbs(tuple(token.text for token in tokens), values)
    names = tuple(str(token.id) if number else "" for number, token in enumerate(tokens))
    return TokenLogProbs(names, values, "".join(token.text for token in tokens[1:]))


def assert_same(found: Completion, wanted: Completion) -> None:
    assert found.failure == wanted.failure
    assert found.usage == wanted.usage
    if found.likelihood is not None and wanted.likelihood is not None:
        facts = [(one.tokens, one.all_tokens, one.bytes, one.merged) for one in (found.likelihood, wanted.likelihood)]
        assert facts[0] == facts[1]
        assert found.likelihood.nll == pytest.approx(wanted.likelihood.nll)
        assert math.isfinite(found.likelihood.nll)


@given(texts, st.booleans())
def test_a_whole_text(text: str, by_id: bool) -> None:
    found, wanted = whole(text, told(text, by_id)), local(text, LikelihoodQuery())
    assert_same(found, wanted)


@given(texts)
def test_bytes_are_those_of_the_measured_tokens(text: str) -> None:
    found = whole(text, told(text, by_id=False))
    measured = "".join(token.text for token in MODEL.read(text)[1:])
    assert found.likelihood is None or found.likelihood.bytes == len(measured.encode())


@given(texts, texts, st.booleans())
def test_a_continuation(prompt: str, text: str, by_id: bool) -> None:
    before = told(prompt, by_id) if prompt else EMPTY
    # An id that is not told cannot be seen to change.
    assume(not by_id or encode(prompt)[:1] == encode(prompt + text)[: min(len(encode(prompt)), 1)])
    assert_same(continued(text, before, told(prompt + text, by_id)), local(prompt, LikelihoodQuery(text)))
