"""Intervals hold the truth as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ais_prompt.extensions.perf.intervals import (
    BLOCKS,
    independent_values,
    mean_interval,
    percentile_interval,
    rate_interval,
    slope,
)
from ais_prompt.extensions.perf.metrics import load_table
from tests.extensions.perf.loads import at_20
from tests.support.lazy import Lazy

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


def test_neighbours_that_are_alike_count_as_few() -> None:
    rng = np.random.default_rng(0)
    alone, alike = rng.exponential(1.0, 2000), np.repeat(rng.exponential(1.0, 40), 50)
    widths = [math.log(high / low) for low, high in (mean_interval(one) or (1, 1) for one in (alone, alike))]
    assert widths[1] > 3 * widths[0]
    below = [(one <= np.median(one)).astype(float) for one in (alone, alike)]
    many, few = (independent_values(one, np.ones(2000)) for one in below)
    assert 500 < many <= 2000
    assert few < 60
    whole, some = (percentile_interval(np.sort(alone), 99, number) for number in (None, 100))
    assert whole[1] < math.inf
    assert some[1] == math.inf
    assert some[0] <= whole[0]


@pytest.mark.thorough
@pytest.mark.parametrize("busy", [0.5, 0.8])
def test_intervals_hold_the_truth_under_a_queue(busy: float) -> None:
    """Waits of an M/M/1 queue in blocks of its own time; `bench.statistics_loads` has the figures."""
    rng = np.random.default_rng(0)
    loads = []
    for _ in range(60):
        waits, wait = np.empty(1500), 0.0
        steps = rng.exponential(1.0, 1500) - rng.exponential(1 / busy, 1500)
        for number, step in enumerate(steps.tolist()):
            waits[number] = wait = max(wait + step, 0.0)
        loads.append(waits + rng.exponential(1.0, 1500))
    truth = float(np.concatenate(loads).mean())
    held = [low <= truth <= high for low, high in (mean_interval(one) or (0, 0) for one in loads)]
    assert np.mean(held) >= 0.8


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
