from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import exact_mean, largest_variance, mean_interval, pooled, spread_of, wilson_interval
from ais_prompt.types import Spread
from tests.support.lazy import Lazy

stats = Lazy("scipy.stats")


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        # scipy.stats.binomtest(right, n).proportion_ci(0.95, "wilson")
        (0, 10, 0.0, 0.27753279986288926),
        (5, 5, 0.5655175352168251, 1.0),
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


@pytest.mark.parametrize(("right", "n"), [(1, 20), (2, 50), (3, 51), (3, 1000)])
def test_few_right_or_wrong_answers_have_the_end_of_a_poisson_distribution(right: int, n: int) -> None:
    end = stats.chi2.ppf(0.05, 2 * right) / 2 / n
    assert wilson_interval(right, n)[0] == pytest.approx(end)
    assert wilson_interval(n - right, n)[1] == pytest.approx(1 - end)


@pytest.mark.parametrize("n", [20, 50, 100, 300])
def test_the_interval_covers_every_share_in_nine_of_ten_samples(n: int) -> None:
    ends = np.array([wilson_interval(right, n) for right in range(n + 1)])
    shares = np.linspace(0.0005, 0.9995, 1999)
    inside = (ends[:, :1] <= shares) & (shares <= ends[:, 1:])
    coverage = (stats.binom.pmf(np.arange(n + 1)[:, None], n, shares) * inside).sum(axis=0)
    assert coverage.min() >= 0.89
    assert 0.94 <= coverage.mean() <= 0.97


@given(st.floats(0.001, 0.999), st.integers(3, 400), st.floats(1.0, 50.0))
def test_a_mean_that_varies_like_a_share_has_its_interval(share: float, n: int, scale: float) -> None:
    spread = Spread(share * (1 - share) / n * scale**2, n)
    low, high = mean_interval(share * scale, spread, scale)
    expected = wilson_interval(share * n, n)
    assert (low / scale, high / scale) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_an_interval_of_values_between_0_and_1_holds_their_mean_and_has_a_width(values: list[float]) -> None:
    mean = sum(values) / len(values)
    spread = spread_of([(value - mean) / len(values) for value in values])
    assert spread is not None
    low, high = mean_interval(mean, spread, 1.0)
    assert 0 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 1
    if mean in (0, 1):
        assert (low, high) == wilson_interval(mean * len(values), len(values))


def test_other_means_have_the_interval_of_student() -> None:
    spread = Spread(0.04, 10, freedom=9)
    assert mean_interval(3.0, spread, None) == pytest.approx(
        (3 - stats.t.ppf(0.975, 9) * 0.2, 3 + stats.t.ppf(0.975, 9) * 0.2)
    )


def test_few_outliers_leave_few_degrees_of_freedom() -> None:
    even = spread_of([0.01, -0.01] * 25)
    outliers = spread_of([0.048, 0.048, *[-0.002] * 48])
    assert even is not None
    assert outliers is not None
    assert even.freedom == 49
    assert outliers.freedom is not None
    assert outliers.freedom < 10


def test_clusters_have_the_degrees_of_freedom_of_satterthwaite() -> None:
    values = [-4, 4, *[-1, 1] * 14]
    spread = spread_of([value / 30 for value in values], clustered=True)
    assert spread is not None
    assert spread.freedom == pytest.approx(2 * 30 / (stats.kurtosis(values, fisher=False) - 1))


def test_values_that_are_nearly_all_right_or_wrong_have_hardly_a_wider_interval() -> None:
    mean = 48.1 / 50
    spread = spread_of(
        [(value - mean) / 50 for value in [1.0] * 48 + [0.0, 0.1]], largest=largest_variance(mean, 1.0, [1 / 50] * 50)
    )
    assert spread is not None
    assert mean_interval(mean, spread, 1.0) == pytest.approx(wilson_interval(48.1, 50), abs=0.001)


def test_values_near_both_ends_have_the_interval_of_right_and_wrong_answers() -> None:
    values = [0.0, 1.0] * 9 + [0.1, 0.9]
    largest = largest_variance(0.5, 1.0, [0.05] * 20)
    spread = spread_of([(value - 0.5) / 20 for value in values], largest=largest)
    assert spread is not None
    assert mean_interval(0.5, spread, 1.0) == pytest.approx(wilson_interval(10, 20), abs=0.01)
    # The few that are not perfect still decide everything.
    values = [1.0] * 48 + [0.75] * 2
    outliers = spread_of([(value - 0.99) / 50 for value in values], largest=largest_variance(0.99, 1.0, [0.02] * 50))
    assert outliers is not None
    assert outliers.freedom is not None
    assert outliers.freedom < 10


@given(st.lists(st.floats(0, 5), min_size=2, max_size=40))
def test_no_values_vary_more_than_right_and_wrong_ones_with_their_mean(values: list[float]) -> None:
    n = len(values)
    mean = exact_mean(values)
    largest = largest_variance(mean, 5.0, [1 / n] * n)
    assert largest is not None
    assert sum(((value - mean) / n) ** 2 for value in values) <= largest + 1e-9
    assert largest_variance(mean, None, [1 / n] * n) is None


def test_independent_means_add_their_variances() -> None:
    spread = pooled([(0.5, Spread(0.04, 100, 50)), (0.5, Spread(0.01, 300))])
    assert spread.variance == pytest.approx(0.0125)
    assert spread.units == pytest.approx(1 / (0.25 / 100 + 0.25 / 300))
    assert spread.freedom == pytest.approx(0.0125**2 / (0.01**2 / 50))


def test_few_clusters_that_are_alike_by_chance_are_no_sure_variance() -> None:
    """As repeats of questions such values have an interval hardly wider than that of right and wrong answers."""
    values = [0.5, 0.55, 0.45, 0.5, 0.6, 0.4]
    deviations = [(value - 0.5) / 6 for value in values]
    largest = largest_variance(0.5, 1.0, [1 / 6] * 6)
    repeats, clusters = (spread_of(deviations, largest=largest, clustered=clustered) for clustered in (False, True))
    assert repeats is not None
    assert clusters is not None
    assert clusters.variance == repeats.variance
    assert clusters.freedom is not None
    assert repeats.freedom is not None
    assert 3 <= clusters.freedom <= 5 < repeats.freedom
