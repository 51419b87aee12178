from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics.distributions import _incomplete_beta, gamma_quantile, t_quantile
from tests.support.lazy import Lazy

stats = Lazy("scipy.stats")


@given(st.floats(0.51, 0.999), st.floats(1, 100_000))
def test_quantiles_of_student_agree_with_scipy(probability: float, freedom: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-8)


@given(st.floats(0.001, 0.5), st.floats(0.05, 50))
def test_quantiles_of_the_gamma_distribution_agree_with_scipy(probability: float, shape: float) -> None:
    expected = stats.gamma.ppf(probability, shape)
    assert gamma_quantile(probability, shape) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@given(st.floats(0.1, 60), st.floats(0.1, 60), st.integers(-9, 9))
def test_the_border_of_the_two_expansions_has_an_end(a: float, b: float, steps: int) -> None:
    border = (a + 1) / (a + b + 2) * (1 + 1.1e-16 * steps)
    assert 0 < _incomplete_beta(border, a, b) < 1
