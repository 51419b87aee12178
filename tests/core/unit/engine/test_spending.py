"""Budgets: never more requests than allowed, and a pause stays one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.engine import QUOTA, Spending
from ais_prompt.errors import Paused
from ais_prompt.models import approximate_tokens
from ais_prompt.report import used_line
from ais_prompt.types import Budget, Completion, Decoding, Failure, Price, Request, Usage, Used

REQUEST = Request("id", "four letters make one", Decoding(max_out_len=8))
PRICE = Price(1.0, 10.0, "EUR", per=10)


def answered(tokens: int) -> Completion:
    return Completion("text", "stop", Usage(tokens, tokens))


@given(most=st.integers(1, 20), steps=st.lists(st.tuples(st.sampled_from(["ask", "answer"]), st.integers(1, 8))))
def test_no_more_requests_are_admitted_than_allowed(most: int, steps: list[tuple[str, int]]) -> None:
    spending = Spending(Budget(max_requests=most))
    admitted = ended = 0
    paused = False
    for step, count in steps:
        if step == "ask":
            try:
                found = spending.admit("m", count)
            except Paused:
                paused = True
            else:
                assert not paused
                assert 1 <= found <= count
                admitted += found
        else:
            for _ in range(min(count, admitted - ended)):
                spending.add("m", None, REQUEST, answered(1))
                ended += 1
    assert admitted <= most
    assert paused <= (admitted == most)
    assert spending.used.requests == ended


@given(tokens=st.lists(st.integers(0, 30), max_size=30), limit=st.integers(1, 200), places=st.integers(1, 4))
def test_a_limit_of_tokens_is_exceeded_by_what_is_under_way_only(tokens: list[int], limit: int, places: int) -> None:
    spending = Spending(Budget(max_tokens_total=limit))
    flight: list[int] = []
    for number in tokens:
        if len(flight) == places:
            spending.add("m", PRICE, REQUEST, answered(flight.pop(0)))
        try:
            spending.admit("m")
        except Paused:
            break
        assert spending.used.tokens < limit
        flight.append(number)
    for number in flight:
        spending.add("m", PRICE, REQUEST, answered(number))
    if spending.used.tokens >= limit:
        with pytest.raises(Paused):
            spending.check("m")
    assert spending.used.tokens < limit + 60 * places
    assert sum(spending.used.cost.values()) == pytest.approx(spending.used.tokens / 2 * 1.1)


def test_the_quota_of_one_model_stops_that_model_alone() -> None:
    spending = Spending()
    spending.admit("poor")
    with pytest.raises(Paused, match="quota"):
        spending.add("poor", None, REQUEST, Completion(failure=Failure(QUOTA, "no money")))
    with pytest.raises(Paused, match="no money"):
        spending.admit("poor")
    assert spending.admit("rich", 3) == 3
    assert spending.used == Used()


def test_tokens_that_the_server_does_not_count_are_estimated() -> None:
    spending = Spending()
    spending.admit("m", 2)
    spending.add("m", PRICE, REQUEST, Completion("中文 and", "stop", reasoning="word"))
    spending.add("m", PRICE, REQUEST, Completion(failure=Failure("timeout", "")))
    assert (spending.used.requests, spending.used.input_tokens, spending.used.output_tokens) == (2, 6, 4)
    assert spending.used.cost == {"EUR": pytest.approx(4.6)}
    assert approximate_tokens("") == 0


def test_requests_that_are_cancelled_count_if_they_were_sent() -> None:
    spending = Spending()
    spending.add("m", PRICE, REQUEST, answered(2))
    for attempts in (0, 1, 3):
        spending.add_cancelled(attempts)
    assert spending.used == Used(3, 2, 2, {"EUR": 2.2}, 5)


def test_tokens_that_the_server_did_not_count_are_marked_as_estimates() -> None:
    spending = Spending()
    spending.add("m", None, REQUEST, answered(2))
    spending.add("m", None, REQUEST, Completion(failure=Failure("http_500", "down")))
    assert used_line(spending.used) == "2 requests · 2 tokens in · 2 out"
    spending.add("m", None, REQUEST, Completion("text", "stop", Usage(2, None)))
    assert spending.used.estimated == 1
    assert used_line(spending.used) == "3 requests · about 4 tokens in · about 3 out"
