"""The errors of judges: against other libraries, known examples, and simulated labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.labels.judge_check import Confusion

counts = st.integers(0, 60)


@pytest.mark.thorough
@given(counts, counts, counts, counts)
def test_kappa_is_that_of_statsmodels(right: int, false: int, wrong: int, missed: int) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    found = Confusion(right, false, wrong, missed).kappa
    table = np.array([[right, false], [missed, wrong]])
    if found is None:
        assert table.max() == table.sum()  # all pairs are the same
        return
    expected = cohens_kappa(table)
    assert found.value == pytest.approx(expected.kappa, abs=1e-9)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    if expected.var_kappa > 1e-9:
        assert found.low == pytest.approx(max(-1, expected.kappa_low), abs=1e-4)
        assert found.high == pytest.approx(min(1, expected.kappa_upp), abs=1e-4)


@pytest.mark.parametrize(
    ("share", "sensitivity", "specificity", "labels"),
    [(0.6, 0.9, 0.8, 200), (0.3, 0.95, 0.7, 100), (0.85, 0.8, 0.9, 400)],
)
def test_the_corrected_score_covers_the_truth(
    share: float, sensitivity: float, specificity: float, labels: int
) -> None:
    draw = np.random.default_rng(1)
    n, covered, values = 1000, 0, []
    for _ in range(400):
        truth = draw.random(labels) < share
        verdict = np.where(truth, draw.random(labels) < sensitivity, draw.random(labels) >= specificity)
        called = draw.binomial(n, share * sensitivity + (1 - share) * (1 - specificity))
        found = Confusion.of(list(zip(verdict.tolist(), truth.tolist(), strict=True))).corrected(int(called), n)
        assert found
        values.append(found.value)
        covered += found.low <= share <= found.high
    assert 0.92 <= covered / 400 <= 0.99
    assert np.mean(values) == pytest.approx(share, abs=0.015)
    uncorrected = share * sensitivity + (1 - share) * (1 - specificity)
    assert abs(np.mean(values) - share) < abs(uncorrected - share)


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    assert Confusion(5, 5, 5, 5).corrected(50, 100) is None
    assert Confusion(5, 0, 0, 0).corrected(50, 100) is None
    assert Confusion().kappa is None
    assert Confusion().sensitivity is None


def test_counts_of_pairs() -> None:
    found = Confusion.of([(True, True), (True, False), (False, False), (False, False), (False, True)])
    assert found == Confusion(1, 1, 2, 1)
    assert found.sensitivity is not None
    assert found.specificity is not None
    assert (found.sensitivity.value, found.specificity.value) == (1 / 2, 2 / 3)


def test_kappa_of_verdicts_that_all_agree_has_an_interval() -> None:
    few, many = (Confusion(true_right=n, true_wrong=n).kappa for n in (5, 500))
    assert few is not None
    assert many is not None
    assert (few.value, few.high) == (1.0, 1.0)
    assert 0 < few.low < 0.6 < 0.98 < many.low < 1
