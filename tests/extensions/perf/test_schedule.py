"""When requests are due."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.perf.schedule import Schedule, at_rate, closed, from_trace, pressure
from ais_prompt.models import Limits
from tests.support.lazy import Lazy

stats: Any = Lazy("scipy.stats")


def rate(requests: int, seed: int = 0, **limits: Any) -> Schedule:
    return at_rate(requests, Limits(**limits), seed=seed, places=None)


def gaps(schedule: Schedule) -> list[float]:
    return [after - before for before, after in pairwise([0.0, *schedule.due])]


@pytest.mark.parametrize("burstiness", [0, 0.3, 1.0, 4.0, None])
def test_the_last_request_of_a_rate_is_due_at_n_over_rate(burstiness: float | None) -> None:
    schedule = rate(200, request_rate=20.0, burstiness=burstiness)
    assert schedule.due[-1] == pytest.approx(10.0)
    assert schedule.rate == pytest.approx(20.0)
    assert list(schedule.due) == sorted(schedule.due)
    assert schedule == rate(200, request_rate=20.0, burstiness=burstiness), "the same seed makes the same schedule"


@pytest.mark.parametrize("burstiness", [0.3, 1.0, 4.0])
def test_intervals_are_those_of_a_gamma_distribution(burstiness: float) -> None:
    found = gaps(rate(2000, request_rate=50.0, burstiness=burstiness))
    expected = stats.gamma(burstiness, scale=1 / (50.0 * burstiness))
    assert stats.kstest(found, expected.cdf).pvalue > 0.01


def test_without_burstiness_arrivals_are_a_poisson_process_and_with_0_even() -> None:
    assert rate(50, request_rate=5.0) == rate(50, request_rate=5.0, burstiness=1.0)
    assert rate(50, request_rate=5.0) != rate(50, seed=1, request_rate=5.0)
    assert gaps(rate(50, request_rate=5.0, burstiness=0)) == pytest.approx([0.2] * 50)


@pytest.mark.parametrize(("strategy", "middle"), [("linear", 5.5), ("exponential", math.sqrt(10))])
def test_a_ramp_goes_over_all_requests_or_over_seconds(strategy: Any, middle: float) -> None:
    ramp = {"ramp_up_strategy": strategy, "ramp_up_start_rps": 1.0, "burstiness": 0}
    by_request = gaps(rate(101, ramp_up_end_rps=10.0, **ramp))
    assert [by_request[place] for place in (0, 50, 100)] == pytest.approx([1.0, 1 / middle, 0.1])
    by_time = gaps(rate(101, request_rate=10.0, ramp_up_seconds=4.0, **ramp))
    assert by_time[0] == pytest.approx(1.0)
    assert by_time[-1] == pytest.approx(0.1)


def test_a_trace_begins_at_0_and_can_be_sped_up() -> None:
    assert from_trace([5.0, 5.5, 7.0], 2.0, places=None).due == [0.0, 0.25, 1.0]
    with pytest.raises(ConfigError, match=r"row 2 is 0\.5 s before"):
        from_trace([5.0, 7.0, 6.5], 1.0, places=None)


def test_a_trace_in_another_unit_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"the trace takes 42 days") as error:
        from_trace([0.0, 3.6e6], 1.0, places=None)
    assert "milliseconds" in error.value.fix
    assert from_trace([0.0, 3.6e6], 1000.0, places=None).due == [0.0, 3600.0]
    assert from_trace([0.0, 3.6e6], 1.0, places=None, seconds=10).due == [0.0]


@pytest.mark.parametrize("wrong", [1e-9, 1e6, None])
def test_a_rate_that_no_client_can_send_is_refused(wrong: float | None) -> None:
    with pytest.raises(ConfigError, match="needs a request_rate from"):
        rate(10, request_rate=wrong)


def test_requests_after_the_planned_times_are_due_when_a_place_is_free() -> None:
    assert list(closed(2, 8)) == [(0, None), (1, None)]
    schedule = pressure(Limits(request_rate=4.0, burstiness=0), seed=0, places=2, seconds=9.0)
    assert [moment for (_, moment), _ in zip(schedule, range(4), strict=False)] == [0.25, 0.5, None, None]
