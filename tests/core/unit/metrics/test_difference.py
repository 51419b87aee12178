"""The interval of a difference, and p-values that say the same."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ais_prompt.metrics import (
    MOST_EXACT,
    mean_difference,
    mean_of_differences,
    sign_flips,
    sums_difference,
    tango_interval,
)
from tests.support.lazy import Lazy

optimize, stats = Lazy("scipy.optimize"), Lazy("scipy.stats")

PARTS = st.one_of(st.sampled_from([0.0, -1.0, 1.0, 0.5]), st.floats(-1, 1, width=16))


@pytest.mark.thorough
@pytest.mark.parametrize(("worse", "better", "n"), [(7, 1, 21), (2, 12, 50), (0, 1, 44), (30, 55, 300)])
def test_tango_inverts_the_score_test(worse: int, better: int, n: int) -> None:
    def statistic(difference: float) -> float:
        """The score statistic, with the likelihood maximized numerically under this difference."""

        def loss(share_worse: float) -> float:
            share_better = share_worse + difference
            same = 1 - share_worse - share_better
            parts = ((worse, share_worse), (better, share_better), (n - worse - better, same))
            return -sum(count * math.log(max(share, 1e-300)) for count, share in parts)

        bounds = (max(0.0, -difference), (1 - difference) / 2)
        share = optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
        return (better - worse - n * difference) / math.sqrt(n * (2 * share + difference - difference**2))

    low, high = tango_interval(worse, better, n)
    assert (statistic(low), statistic(high)) == pytest.approx((1.959964, -1.959964), abs=1e-3)


@pytest.mark.thorough
def test_mcnemars_exact_test_never_finds_more_than_the_score_test() -> None:
    # So Tango's interval leaves out 0 wherever the exact p-value is below 5 %.
    for changed in range(1, 3_000):
        fewest = int(stats.binom.isf(0.025, changed, 0.5)) + 1  # P(at least so many) is below 2.5 %
        if fewest <= changed:
            assert (2 * fewest - changed) ** 2 / changed > 1.959964**2


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 60))
def test_the_ends_are_where_the_score_statistic_is_the_quantile(worse: int, better: int, same: int) -> None:
    n = worse + better + same
    low, high = tango_interval(worse, better, n)
    assert -1 <= low <= (better - worse) / n <= high <= 1
    mirrored = tango_interval(better, worse, n)
    assert (-mirrored[1], -mirrored[0]) == pytest.approx((low, high), abs=1e-9)
    if not worse and not better:
        assert high == pytest.approx(1.959964**2 / (n + 1.959964**2), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.lists(PARTS, min_size=2, max_size=40), st.booleans(), st.sampled_from([1.0, None]))
def test_interval_and_p_say_the_same(differences: list[float], clustered: bool, best: float | None) -> None:
    clusters = [str(number // 3) for number in range(len(differences))] if clustered else None
    found = mean_difference(differences, clusters, best)
    assert 0 <= found.p <= 1
    if found.interval is None:
        assert found.p >= 0.05
        return
    low, high = found.interval
    assert low <= found.value + 1e-9
    assert found.value <= high + 1e-9
    assert (found.p < 0.05) is (low > 0 or high < 0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=9))
def test_sign_flips_are_all_combinations_of_signs(differences: list[float]) -> None:
    signs = itertools.product((-1, 1), repeat=len(differences))
    sums = [sum(sign * abs(one) for sign, one in zip(flips, differences, strict=True)) for flips in signs]
    total = sum(differences)
    assert sign_flips(differences).worse == pytest.approx(sum(one <= total + 1e-9 for one in sums) / len(sums))


@pytest.mark.thorough
def test_random_sign_flips_are_near_the_t_test_and_always_the_same() -> None:
    draw = np.random.default_rng(2)
    for size in (MOST_EXACT + 1, 200):
        values = draw.normal(-0.1, 0.5, size).tolist()
        reference = stats.ttest_1samp(values, 0, alternative="less").pvalue
        assert sign_flips(values).worse == pytest.approx(reference, abs=0.02)
        assert sign_flips(values) == sign_flips(values)


def test_few_samples_are_no_evidence_whatever_the_metric() -> None:
    for differences in ([-0.1, -0.1], [-1.0] * 5, [-0.3, -0.2, -0.1, -0.4, -0.5]):
        found = mean_difference(differences)
        assert found.p >= 0.05
        assert found.interval is not None
        assert found.interval[1] >= 0
    assert mean_difference([-1.0]).interval is None


def test_nothing_changed_is_no_proof_that_nothing_will() -> None:
    for clusters, n in ((None, 200), ([str(number // 10) for number in range(200)], 20)):
        found = mean_difference([0.0] * 200, clusters)
        assert found.interval == pytest.approx((-3.8415 / (n + 3.8415), 3.8415 / (n + 3.8415)), abs=1e-4)
    assert mean_difference([0.0] * 9, best=None).interval is None


def test_the_one_sided_end_is_nearer_than_the_interval() -> None:
    found = mean_difference([-1.0] * 6 + [1.0] * 3 + [0.0] * 91)
    assert found.interval is not None
    end = found.low_end(0.95)
    assert end is not None
    assert found.interval[0] < end < found.value


def ratio(sums: NDArray[np.float64]) -> float:
    return float(sums[0] / max(sums[1], 1))


@pytest.mark.thorough
@pytest.mark.parametrize("size", [2, 5, 40])
@pytest.mark.parametrize("shift", [0.0, 0.05, 0.4])
def test_interval_and_p_of_sums_say_the_same(size: int, shift: float) -> None:
    draw = np.random.default_rng(size)
    before = np.stack([draw.random(size), np.full(size, 2.0)], axis=1)
    after = before + [[shift, 0.0]] * size + draw.normal(0, 0.05, (size, 1)) * [[1.0, 0.0]]
    found = sums_difference(before, after, ratio, resamples=400)
    assert found.interval is not None
    assert (found.p < 0.05) is (found.interval[0] > 0 or found.interval[1] < 0)
    assert found.p >= 0.05 or size > 5
    assert found.p < 0.05 or shift < 0.4 or size <= 5
    same = sums_difference(before, before, ratio)
    assert (same.p, same.interval) == (1.0, None)


@pytest.mark.thorough
@given(st.lists(st.lists(st.sampled_from([0.0, -1.0, 1.0, 0.5]), min_size=3, max_size=30), min_size=2, max_size=6))
def test_a_mean_over_datasets_adds_the_variances_of_their_own_questions_and_p_says_what_its_interval_says(
    datasets: list[list[float]],
) -> None:
    parts = [mean_difference(one) for one in datasets]
    questions = [[(f"{number} {place}", one) for place, one in enumerate(of)] for number, of in enumerate(datasets)]
    mean = mean_of_differences(parts, questions)
    assert mean.value == pytest.approx(np.mean([np.mean(one) for one in datasets]))
    variance = sum(part.stderr**2 for part in parts if part.stderr is not None) / len(parts) ** 2
    assert mean.stderr == pytest.approx(math.sqrt(variance))
    low, high = mean.interval or (0.0, 0.0)
    assert low - 1e-9 <= mean.value <= high + 1e-9
    if abs(mean.p - 0.05) > 1e-6:
        assert (mean.p < 0.05) == (low > 0 or high < 0)


def test_the_same_questions_twice_show_no_more_than_once() -> None:
    one = [-0.5] * 7 + [1.0] + [0.0] * 13
    questions = [(str(place), value) for place, value in enumerate(one)]
    part = mean_difference(one)
    assert part.stderr is not None
    assert mean_of_differences([part, part], [questions, questions]).stderr == pytest.approx(part.stderr, rel=0.02)
    others = [(f"other {name}", value) for name, value in questions]
    assert mean_of_differences([part, part], [questions, others]).stderr == pytest.approx(part.stderr / math.sqrt(2))
