"""Thresholds for later runs; `bench.statistics_thresholds` measures how often they are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics.claims import _f_quantile, threshold
from tests.support.lazy import Lazy

stats = Lazy("scipy.stats")


@given(st.floats(0.5, 0.99), st.integers(1, 30), st.floats(1, 500))
def test_quantiles_of_f_agree_with_scipy(probability: float, upper: int, lower: float) -> None:
    assert _f_quantile(probability, upper, lower) == pytest.approx(stats.f.ppf(probability, upper, lower), rel=1e-6)


def test_equal_runs_allow_no_drop() -> None:
    found = threshold(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]), 0.05)
    assert (found.limit, found.mean, found.drop, found.deviation) == (pytest.approx(2 / 3), found.limit, 0, 0)


def test_the_limit_is_that_of_the_t_distribution() -> None:
    values = np.random.default_rng(0).integers(0, 2, (400, 5)).astype(float)
    found = threshold(values, 0.05)
    variances = values.var(axis=1, ddof=1)
    freedom = 4 * variances.sum() ** 2 / (variances**2).sum()
    predicted = found.deviation * (1 + 1 / 5) ** 0.5
    assert not found.varies_beyond
    assert found.deviation == pytest.approx((variances.sum() / 400**2) ** 0.5)
    assert found.mean - found.limit == pytest.approx(stats.t.ppf(0.95, freedom) * predicted)
    assert found.drop == pytest.approx(found.mean - found.limit + stats.t.ppf(0.8, freedom) * predicted)


def test_what_the_questions_do_not_explain_counts() -> None:
    draw = np.random.default_rng(0)
    rates = np.array([0.4, 0.6, 0.5, 0.7, 0.3])
    values = (draw.random((2000, 5)) < rates).astype(float)
    found = threshold(values, 0.05)
    assert found.varies_beyond
    assert found.deviation == pytest.approx(values.mean(axis=0).std(ddof=1))
    assert found.limit < 0.3


@given(st.integers(0, 1000), st.integers(2, 6), st.floats(0.001, 0.2))
def test_fewer_alarms_need_a_lower_limit(seed: int, runs: int, level: float) -> None:
    values = np.random.default_rng(seed).integers(0, 2, (20, runs)).astype(float)
    strict, lenient = threshold(values, level), threshold(values, 2 * level)
    assert strict.limit <= lenient.limit <= strict.mean
    assert strict.drop >= lenient.drop >= 0


@given(st.integers(0, 1000), st.integers(2, 6), st.floats(0.001, 0.2))
def test_the_limit_of_an_error_rate_is_an_upper_one(seed: int, runs: int, level: float) -> None:
    values = np.random.default_rng(seed).integers(0, 2, (20, runs)).astype(float)
    right, wrong = threshold(values, level), threshold(1 - values, level, lower_is_better=True)
    assert wrong.limit == pytest.approx(1 - right.limit)
    assert wrong.drop == pytest.approx(right.drop)
