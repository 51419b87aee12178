"""Intervals hold the truth as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ais_prompt.perf.intervals import BLOCKS, mean_interval, percentile_interval, rate_interval, slope
from ais_prompt.perf.metrics import load_table
from tests.support.lazy import Lazy
from tests.unit.perf.loads import at_20

stats = Lazy("scipy.stats")


@pytest.mark.parametrize(("n", "percent"), [(20, 50), (100, 90), (1000, 99), (4000, 95), (20_000, 99)])
def test_the_ranks_of_a_percentile_are_those_of_the_binomial_distribution(n: int, percent: float) -> None:
    low, high = percentile_interval(np.arange(1.0, n + 1), percent)
    inside = stats.binom.cdf(high - 1, n, percent / 100) - stats.binom.cdf(low - 1, n, percent / 100)
    assert inside + (0 if n <= 5000 else 0.002) >= 0.95
    assert stats.binom.cdf(low, n, percent / 100) > (0.025 if n <= 5000 else 0.024), "it is not wider than it must be"


def test_an_end_without_values_is_infinite() -> None:
    assert percentile_interval(np.arange(1.0, 101), 99)[1] == math.inf
    assert percentile_interval(np.arange(1.0, 5), 50) == (-math.inf, math.inf)
    assert percentile_interval(np.arange(1.0, 7), 50) == (1.0, 6.0)


def covered(n: int, *, several: int = 1) -> float:
    """Return how often the interval of the mean of skewed values, ``several`` alike in each request, has the truth."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(200):
        sums = rng.exponential(1.0, n) * several
        low, high = mean_interval(sums, np.full(n, float(several))) or (0.0, 0.0)
        hits += low <= 1.0 <= high
    return hits / 200


@pytest.mark.thorough
def test_the_interval_of_a_mean_holds_the_truth() -> None:
    assert covered(100) >= 0.9
    assert covered(6000, several=10) >= 0.9
    assert mean_interval(np.array([1.0])) is None


def test_gaps_of_one_answer_are_no_independent_values() -> None:
    rng = np.random.default_rng(0)
    speeds = rng.exponential(1.0, 50)
    gaps = np.repeat(speeds, 100)
    naive, honest = mean_interval(gaps), mean_interval(speeds * 100, np.full(50, 100.0))
    assert naive is not None
    assert honest is not None
    assert np.ptp(honest) > 5 * np.ptp(naive)


@pytest.mark.thorough
def test_a_throughput_has_an_interval_of_blocks() -> None:
    assert rate_interval(np.full(BLOCKS, 5.0), 10.0) == (10.0, 10.0)
    rng = np.random.default_rng(0)
    hits = sum(
        low <= 10.0 <= high
        for low, high in (rate_interval(rng.poisson(5, BLOCKS).astype(float), 10.0) for _ in range(500))
    )
    assert 0.92 <= hits / 500 <= 0.98
    found = load_table(*at_20(400))
    for name, (low, high) in found.intervals.items():
        assert low <= getattr(found, name) <= high, name
    assert set(found.intervals) == {"requests_per_second", "input_tokens_per_second", "output_tokens_per_second"}
    assert load_table(*at_20(10)).intervals == {}


def test_a_slope_is_found_within_its_interval() -> None:
    times = np.linspace(0, 10, 200)
    found = slope(times, 3 + 2 * times)
    assert found is not None
    assert found.change == pytest.approx(2)
    assert found.share == pytest.approx(20 / 13)
    rng = np.random.default_rng(0)
    flat = [slope(times, rng.normal(1, 1, 200)) for _ in range(300)]
    assert 0.92 <= np.mean([one.interval[0] <= 0 <= one.interval[1] for one in flat if one]) <= 0.98
    assert slope(times[:30], times[:30]) is None
