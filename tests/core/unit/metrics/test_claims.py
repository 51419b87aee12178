"""Claims are right as often as they say, and need as many samples as is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import fewest_for, low_end, mean_difference, samples_for, samples_for_drop
from tests.support.lazy import Lazy

stats = Lazy("scipy.stats")

pytestmark = pytest.mark.thorough


def questions(right: int, wrong: int) -> list[tuple[str, float]]:
    return [(str(number), float(number < right)) for number in range(right + wrong)]


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.8, 0.95, 0.99]))
def test_right_and_wrong_have_the_end_of_clopper_and_pearson(right: int, wrong: int, confidence: float) -> None:
    if right + wrong < 2:
        assert not right + wrong or low_end(questions(right, wrong), confidence) is None
        return
    reference = stats.binomtest(right, right + wrong, alternative="greater").proportion_ci(confidence, "exact").low
    assert low_end(questions(right, wrong), confidence) == pytest.approx(reference, abs=1e-9)


@pytest.mark.slow
def test_the_end_is_above_the_true_value_in_5_percent_at_most() -> None:
    draw = np.random.default_rng(4)
    cells = ((0.9, 8, 1), (0.7, 1, 1), (0.8, 1, 4), (0.98, 1, 12), (0.95, 64, 1), (0.7, 1, 20))
    for chance, shape, clusters in cells:
        high = 0
        for _ in range(400):
            groups = np.repeat(draw.beta(3 * chance, 3 * (1 - chance), 240 // clusters), clusters)
            values = draw.binomial(shape, groups) / shape
            end = low_end([(str(n // clusters), float(value)) for n, value in enumerate(values)], 0.95)
            assert end is not None
            high += end > chance
        assert high <= 33  # 5 %, and three standard errors


def test_clusters_with_equal_shares_show_no_more_than_their_number() -> None:
    alike = [(str(cluster), value) for cluster in range(7) for value in (1.0, 0.0, 1.0, 1.0, 0.0, 1.0)]
    assert low_end(alike, 0.95) == pytest.approx(stats.beta.ppf(0.05, 14 / 3, 7 - 14 / 3 + 1))


def test_so_many_samples_show_it_in_80_percent() -> None:
    needed = samples_for(0.7, 0.75, 0.95)
    assert needed is not None
    draw = np.random.default_rng(3)
    shown = []
    for right in draw.binomial(needed, 0.75, 400).tolist():
        end = low_end(questions(right, needed - right), 0.95)
        shown.append(end is not None and end >= 0.7)
    assert np.mean(shown) == pytest.approx(0.8, abs=0.06)
    assert fewest_for(0.99, 0.95) == 299
    assert low_end(questions(299, 0), 0.95) >= 0.99 > low_end(questions(298, 0), 0.95)  # type: ignore[operator]


def test_so_many_samples_show_that_nothing_dropped() -> None:
    draw = np.random.default_rng(6)
    for changed, limit in ((0.1, 0.03), (0.3, 0.05), (0.0, 0.02), (0.02, 0.05), (0.01, 0.03), (0.05, 0.1)):
        n = samples_for_drop(limit, changed, 0.95)
        assert n is not None
        shown = []
        for worse, better, same in draw.multinomial(n, [changed / 2, changed / 2, 1 - changed], 150).tolist():
            end = mean_difference([-1.0] * worse + [1.0] * better + [0.0] * same).low_end(0.95)
            shown.append(end is not None and end > -limit - 1e-9)
        assert np.mean(shown) >= 0.7  # 80 %, and three standard errors
