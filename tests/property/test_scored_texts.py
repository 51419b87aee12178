"""A text that a server has scored has the likelihood that a local model would have given it."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ais_prompt.models.huggingface.log_probs import Row, query_row
from ais_prompt.models.openai.token_log_probs import EMPTY, TokenLogProbs, continuation, whole
from ais_prompt.types import Completion, Failure, LikelihoodQuery
from tools.mock_scoring import LetterModel

MODEL = LetterModel()
texts = st.text("ab é.\n", max_size=12)


def encode(text: str) -> list[int]:
    return [token.id for token in MODEL.read(text)]


def local(prompt: str, scoring: LikelihoodQuery) -> Completion:
    """As it is computed in this process; the numbers are looked up by the place of a token."""
    row = query_row(prompt, scoring, None, encode)
    if isinstance(row, Failure):
        return Completion(failure=row)
    assert isinstance(row, Row)
    values = [token.log_prob for token in MODEL.read(prompt + (scoring.continuation or ""))]
    return row.completion([values[place + 1] or 0.0 for place, _ in row.wanted], 0.0)


def told(text: str, by_id: bool) -> TokenLogProbs:
    """As a server tells it: with the texts of the tokens, or with the ids of all but the first."""
    tokens = MODEL.read(text)
    names = [str(token.id) if number else "" for number, token in enumerate(tokens)]
    return TokenLogProbs(tuple(names if by_id else (token.text for token in tokens)), tuple(t.log_prob for t in tokens))


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
    assert_same(whole(text, told(text, by_id)), local(text, LikelihoodQuery()))


@given(texts, texts, st.booleans())
def test_a_continuation(prompt: str, text: str, by_id: bool) -> None:
    before = told(prompt, by_id) if prompt else EMPTY
    # An id that is not told cannot be seen to change.
    assume(not by_id or encode(prompt)[:1] == encode(prompt + text)[: min(len(encode(prompt)), 1)])
    assert_same(continuation(text, before, told(prompt + text, by_id)), local(prompt, LikelihoodQuery(text)))
