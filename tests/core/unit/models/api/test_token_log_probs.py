"""Log-likelihoods from the log-probabilities of a server."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import (
    EMPTY,
    TokenLogProbs,
    continued,
    is_log_prob,
    single_token,
    whole,
)
from ais_prompt.types import Completion, Failure, Likelihood

log_probs = st.floats(min_value=-50, max_value=0)


def token_log_probs(tokens: str, *values: Any) -> TokenLogProbs:
    return TokenLogProbs(tuple(tokens.split("|")), (None, *values))


def likelihood_of(completion: Completion) -> Likelihood:
    assert completion.failure is None
    assert completion.likelihood is not None
    return completion.likelihood


def kind_of(completion: Completion) -> str:
    assert completion.likelihood is None
    assert completion.failure is not None
    return completion.failure.kind


def test_the_first_token_of_a_text_has_no_log_likelihood() -> None:
    found = likelihood_of(whole("So it ïs", token_log_probs("<s>|So| it| ïs", -1.0, -2.0, -0.5)))
    assert found == Likelihood(nll=3.5, tokens=3, all_tokens=4, bytes=9)


def test_a_continuation_is_what_it_adds() -> None:
    found = likelihood_of(continued(" is", token_log_probs("So| it", -1.0), token_log_probs("So| it| is", -1.01, -2.0)))
    assert found == Likelihood(nll=2.0, tokens=1, all_tokens=1, bytes=3)


def test_tokens_of_the_prompt_that_a_continuation_changes_count_with_it() -> None:
    found = likelihood_of(
        continued("it", token_log_probs("So|is| ", -1.0, -3.0), token_log_probs("So|is| it", -1.0, -2.0))
    )
    assert (found.nll, found.tokens, found.merged) == (2.0, 1, True)


@pytest.mark.parametrize("before", [EMPTY, token_log_probs("<s>")])
def test_after_an_empty_prompt_all_tokens_but_the_first_count(before: TokenLogProbs) -> None:
    found = likelihood_of(continued("So it", before, token_log_probs("<s>|So| it", -1.0, -2.0)))
    assert (found.nll, found.tokens, found.all_tokens, found.merged) == (3.0, 2, 2, False)


@given(st.lists(log_probs, min_size=1, max_size=30), st.data())
def test_a_prompt_and_its_continuation_make_the_whole(values: list[float], data: st.DataObject) -> None:
    """The chain rule: a text is as likely as its beginning, times its end after that."""
    cut = data.draw(st.integers(1, len(values)))
    tokens = tuple(map(str, range(len(values) + 1)))
    text, start = TokenLogProbs(tokens, (None, *values)), TokenLogProbs(tokens[:cut], (None, *values)[:cut])
    end = likelihood_of(continued("x", start, text))
    first = likelihood_of(whole("x", start)).nll if cut > 1 else 0.0
    assert first + end.nll == pytest.approx(likelihood_of(whole("x", text)).nll)
    assert end.tokens == len(tokens) - cut


@pytest.mark.parametrize(("value", "merged"), [(-3.1, False), (-6.0, True)])
def test_parts_of_a_character_are_compared_by_their_log_probability(value: float, merged: bool) -> None:
    """Both parts are shown as a replacement character, whatever their bytes are."""
    before, text = token_log_probs("a|\ufffd", -3.0), token_log_probs("a|\ufffd|b", value, -1.0)
    found = likelihood_of(continued("b", before, text))
    assert found.merged is merged
    assert found.nll == (1.0 if not merged else 7.0)


@pytest.mark.parametrize("value", [None, math.nan, -math.inf, math.inf, -9999.0, 0.5, "-1.0", True, {}])
def test_an_invalid_log_probability_is_a_failure(value: Any) -> None:
    assert not is_log_prob(value)
    assert kind_of(whole("ab", token_log_probs("a|b|c", -1.0, value))) == "not_a_number"
    assert (
        kind_of(continued("c", token_log_probs("a|b", -1.0), token_log_probs("a|b|c", -1.0, value))) == "not_a_number"
    )
    failure = single_token("c", token_log_probs("a|b", -1.0), token_log_probs("a|b|c", -1.0, value))
    assert isinstance(failure, Failure)
    assert failure.message.startswith("token 3 of 3 has no usable log-probability")


def test_a_missing_value_in_the_prompt_does_not_affect_its_continuation() -> None:
    assert likelihood_of(continued("c", token_log_probs("a|b", None), token_log_probs("a|b|c", None, -1.0))).nll == 1.0


@pytest.mark.parametrize("value", [0, 0.0, -1, -700.5, 1e-7])
def test_log_probabilities(value: float) -> None:
    assert is_log_prob(value)


def test_a_text_of_one_token_has_no_likelihood() -> None:
    assert kind_of(whole("a", token_log_probs("a"))) == "no_tokens"
    assert kind_of(continued("b", token_log_probs("a|b", -1.0), token_log_probs("a|b", -1.0))) == "no_tokens"


def test_a_choice_is_one_token_more() -> None:
    before = token_log_probs("is| ", -1.0)
    assert single_token("it", before, token_log_probs("is| |it", -1.0, -2.0)) == -2.0
    long = single_token("it", before, token_log_probs("is| |i|t", -1.0, -2.0, -1.0))
    assert isinstance(long, Failure)
    assert (long.kind, long.fatal) == ("long_choice", True)
    merged = single_token("it", before, token_log_probs("is| it", -1.0))
    assert isinstance(merged, Failure)
    assert (merged.kind, merged.fatal) == ("merged_choice", False)
