"""When requests may start, by a clock that the tests set."""

from __future__ import annotations

import statistics
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.models import OUTAGE_FAILURES, OUTAGE_LIMIT_SECONDS, AdaptiveLimit, Outage, Ramp, RequestRate, TokenRate
from ais_prompt.types import Failure

AWAY = Failure("unreachable", "connection refused")
BUSY = Failure("http_503", "busy")


def starts(rate: RequestRate, count: int) -> list[float]:
    """When requests start that all come at once."""
    now, moments = 0.0, []
    for _ in range(count):
        now += rate.reserve(now)
        moments.append(now)
    return moments


def steady(rate: float) -> Ramp:
    return Ramp("linear", rate, rate, 1.0)


def test_without_burstiness_the_intervals_are_equal() -> None:
    assert starts(RequestRate(steady(4.0), None, 0), 5) == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.thorough
@pytest.mark.parametrize("burstiness", [0.25, 1.0, 4.0])
def test_intervals_have_the_mean_and_the_spread_of_a_gamma_distribution(burstiness: float) -> None:
    moments = starts(RequestRate(steady(10.0), burstiness, 7), 20_000)
    intervals = [after - before for before, after in pairwise(moments)]
    assert statistics.mean(intervals) == pytest.approx(0.1, rel=0.05)
    # The coefficient of variation of a Gamma distribution is 1/√shape.
    assert statistics.stdev(intervals) / statistics.mean(intervals) == pytest.approx(burstiness**-0.5, rel=0.05)
    assert moments == starts(RequestRate(steady(10.0), burstiness, 7), 20_000), "a seed makes it the same again"


def test_lost_time_is_not_made_up_for() -> None:
    rate = RequestRate(steady(2.0), None, 0)
    assert rate.reserve(0.0) == 0.0
    assert [rate.reserve(100.0) for _ in range(3)] == [0.0, 0.5, 1.0]


def test_the_rate_ramps_up() -> None:
    linear, exponential = (Ramp(strategy, 1.0, 100.0, 10.0) for strategy in ("linear", "exponential"))  # type: ignore[arg-type]
    assert [linear.rate(t) for t in (0, 5, 10, 99)] == [1.0, 50.5, 100.0, 100.0]
    assert [exponential.rate(t) for t in (0, 5, 10, 99)] == pytest.approx([1.0, 10.0, 100.0, 100.0])
    moments = starts(RequestRate(linear, None, 0), 200)
    assert sum(moment < 2 for moment in moments) < 30 < sum(2 <= moment < 4 for moment in moments)


def test_tokens_of_a_minute() -> None:
    rate = TokenRate(600)
    assert rate.reserve(600, 0.0) == 0.0
    assert rate.reserve(10, 0.0) == pytest.approx(1.0)
    rate.settle(600, used=100, now=0.0)
    assert rate.reserve(400, 0.0) == 0.0, "the answer was shorter than expected"
    assert TokenRate(60).reserve(10_000, 0.0) == 0.0, "what needs more than a minute's tokens goes all the same"


@given(st.lists(st.tuples(st.floats(0, 500), st.floats(0, 3)), max_size=60))
def test_never_more_tokens_than_allowed(requests: list[tuple[float, float]]) -> None:
    rate, now, passed = TokenRate(600), 0.0, 0.0
    for tokens, gap in requests:
        now += gap
        now += rate.reserve(tokens, now)
        passed += tokens
        assert passed <= 600 + 10 * now + 1e-6


def test_concurrency_grows_while_latency_holds_and_is_halved_by_an_overload() -> None:
    limit = AdaptiveLimit(64)
    assert limit.limit == 4
    for _ in range(30):
        limit.answered(0.2)
    assert limit.limit == 34
    limit.overloaded(10.0)
    limit.overloaded(10.1)
    assert limit.limit == 17, "one cut for all that was in flight"
    limit.overloaded(11.0)
    assert limit.limit == 8
    for _ in range(8):
        limit.answered(0.2)
    assert limit.limit == 9, "one more a round, after an overload"
    for _ in range(200):
        limit.answered(2.0)
    assert limit.limit == 9, "answers that take longer do not make it grow"
    for number in range(20):
        limit.overloaded(20.0 + 100 * number)
    assert limit.limit == 1


def test_concurrency_never_exceeds_what_is_allowed() -> None:
    limit = AdaptiveLimit(6)
    for _ in range(100):
        limit.answered(0.1)
    assert limit.limit == 6
    assert AdaptiveLimit(1).limit == 1


def test_twenty_failures_in_a_row_are_an_outage(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("http://a.test/v1")
    outage.answered()
    assert [outage.failed(BUSY, 0.0, 0.0) for _ in range(OUTAGE_FAILURES)] == [False] * (OUTAGE_FAILURES - 1) + [True]
    assert outage.lasts
    assert "pausing 1 s after 20 failures in a row (http_503: busy)" in caplog.text
    assert outage.failed(BUSY, 0.0, 0.5), "what was under way fails with it"
    assert outage.next_probe == 1.0
    pauses = []
    for _ in range(7):
        assert outage.failed(BUSY, 0.0, outage.next_probe)
        pauses.append(outage.next_probe)
    assert [later - earlier for earlier, later in pairwise(pauses)] == [4, 8, 16, 30, 30, 30]
    outage.answered()
    assert not outage.lasts
    assert not outage.failed(BUSY, 0.0, 999.0), "it is counted from the beginning again"


def test_an_answer_in_between_is_no_outage() -> None:
    outage = Outage("http://a.test/v1")
    for number in range(200):
        assert not outage.failed(BUSY, 0.0, float(number))
        if number % 10 == 0:
            outage.answered()


def test_a_server_that_never_answered_is_not_waited_for() -> None:
    outage = Outage("http://a.test/v1")
    assert not any(outage.failed(failure, 0.0, float(number)) for number in range(50) for failure in (BUSY, AWAY))
    assert not outage.lasts


def test_a_refused_connection_is_an_outage_if_the_server_has_answered_before() -> None:
    outage = Outage("http://a.test/v1")
    assert not outage.failed(AWAY, 0.0, 0.0), "it may never have been there"
    outage.answered()
    assert outage.failed(AWAY, 0.0, 1.0)
    assert outage.failed(Failure("http_429", "slow down"), 12.0, outage.next_probe)
    assert outage.next_probe == 14.0, "the server's own wish counts"
    assert outage.failed(Failure("http_429", "slow down"), 0.5, outage.next_probe)
    assert outage.next_probe == 14.5
    assert outage.seconds(11.0) == 10.0
    assert not outage.failed(AWAY, 0.0, 1.0 + OUTAGE_LIMIT_SECONDS + 1, gone=True), "it does not come back"


def test_a_server_that_never_answered_is_left_out_if_there_is_another() -> None:
    outage = Outage("http://a.test/v1")
    assert outage.failed(AWAY, 0.0, 0.0, spare=True)
    assert outage.lasts
    assert outage.failed(AWAY, 0.0, outage.next_probe), "it stays out, whatever becomes of the other"
