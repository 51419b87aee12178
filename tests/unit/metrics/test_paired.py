"""Paired tests agree with the libraries that people trust, and keep what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from ais_prompt.metrics.paired import (
    bootstrap_interval,
    detectable_drop,
    holm,
    mcnemar_exact,
    mcnemar_worse,
    mean_is_negative,
)

COUNT = st.integers(0, 400)


@given(COUNT, COUNT)
def test_mcnemar_is_that_of_statsmodels_and_the_binomial_test_of_scipy(worse: int, better: int) -> None:
    reference = mcnemar([[10, worse], [better, 10]], exact=True).pvalue
    assert mcnemar_exact(worse, better) == pytest.approx(reference, rel=1e-9)
    if worse + better:
        one_sided = binomtest(worse, worse + better, alternative="greater").pvalue
        assert mcnemar_worse(worse, better) == pytest.approx(one_sided, rel=1e-9)


def test_many_changed_samples_do_not_overflow() -> None:
    assert 0 < mcnemar_exact(9_000, 9_200) < 1
    assert mcnemar_exact(20_000, 0) == 0.0


@settings(max_examples=25)  # statsmodels takes 50 ms each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=25))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    mine = holm(dict(enumerate(p_values)))
    assert [mine[number] for number in range(len(p_values))] == pytest.approx(
        multipletests(p_values, method="holm")[1].tolist()
    )


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=200, max_size=400))
def test_the_one_sided_test_of_means_is_near_the_t_test(differences: list[float]) -> None:
    if np.std(differences) == 0:
        return
    reference = ttest_1samp(differences, 0, alternative="less").pvalue
    assert mean_is_negative(differences) == pytest.approx(reference, abs=0.003)


def test_the_interval_holds_the_mean_and_is_always_the_same() -> None:
    few = [0.0] * 800 + [1.0] * 120 + [-1.0] * 80
    low, high = bootstrap_interval(few) or (0, 0)
    normal = 1.96 * np.std(few) / np.sqrt(len(few))
    assert (low, high) == pytest.approx((0.04 - normal, 0.04 + normal), abs=0.003)
    assert bootstrap_interval(few) == (low, high)
    many = np.random.default_rng(5).normal(0.1, 1, size=500).tolist()
    low, high = bootstrap_interval(many, resamples=2_000) or (0, 0)
    mean, spread = np.mean(many), 1.96 * np.std(many) / np.sqrt(500)
    assert (low, high) == pytest.approx((mean - spread, mean + spread), abs=0.02)
    assert bootstrap_interval([1.0]) is None


def test_what_can_be_detected_shrinks_with_the_root_of_n() -> None:
    differences = [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    small, large = detectable_drop(differences * 40), detectable_drop(differences * 160)
    assert small is not None
    assert large == pytest.approx(small / 2, rel=0.01)
    assert (detectable_drop(differences * 40, tests=20) or 0) > small
    assert detectable_drop([0.0, 0.0]) is None


def test_values_that_never_change_are_no_evidence() -> None:
    assert mean_is_negative([0.0, 0.0, 0.0]) == 1.0
    assert mean_is_negative([-0.1, -0.1, -0.1]) == 0.0
    assert mean_is_negative([-1.0]) == 1.0
