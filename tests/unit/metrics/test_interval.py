from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics.interval import normal_interval, wilson_interval


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        # scipy.stats.binomtest(right, n).proportion_ci(0.95, "wilson")
        (0, 10, 0.0, 0.27753279986288926),
        (1, 1, 0.20654931437723745, 1.0),
        (7, 10, 0.39677814746114526, 0.892208732593699),
        (187, 200, 0.891980920700931, 0.9616236453508471),
    ],
)
def test_wilson_agrees_with_scipy(right: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(right, n) == pytest.approx((low, high), abs=1e-12)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_within_0_and_1(case: tuple[int, int]) -> None:
    right, n = case
    low, high = wilson_interval(right, n)
    assert 0 <= low <= right / n <= high <= 1
    assert low < high


def test_the_normal_interval_is_cut_where_no_value_can_be() -> None:
    assert normal_interval(0.5, 0.1, 1.0) == pytest.approx((0.5 - 0.1959964, 0.5 + 0.1959964))
    assert normal_interval(0.05, 0.1, 1.0)[0] == 0
    assert normal_interval(0.95, 0.1, 1.0)[1] == 1
    assert normal_interval(0.0, 1.0, None) == pytest.approx((-1.959964, 1.959964))
