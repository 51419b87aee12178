"""Tests of right and wrong agree with the libraries that people trust."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.metrics import holm, matched_worse, mcnemar_worse, mean_difference
from tests.support.lazy import Lazy

stats = Lazy("scipy.stats")

COUNT = st.integers(0, 400)


@pytest.mark.thorough
@given(COUNT, COUNT)
def test_mcnemar_is_that_of_statsmodels_and_the_binomial_test_of_scipy(worse: int, better: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    reference = mcnemar([[10, worse], [better, 10]], exact=True).pvalue
    found = mean_difference([-1.0] * worse + [1.0] * better + [0.0] * 10).p
    assert found == pytest.approx(reference, rel=1e-9)
    if worse + better:
        one_sided = stats.binomtest(worse, worse + better, alternative="greater").pvalue
        assert mcnemar_worse(worse, better) == pytest.approx(one_sided, rel=1e-9)


def test_many_changed_samples_do_not_overflow() -> None:
    assert 0 < mcnemar_worse(9_200, 9_000) < 1
    assert mcnemar_worse(20_000, 0) == 0.0


@pytest.mark.slow
@pytest.mark.thorough
@settings(max_examples=25)  # statsmodels takes 50 ms each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=25))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    mine = holm(dict(enumerate(p_values)))
    assert [mine[number] for number in range(len(p_values))] == pytest.approx(
        multipletests(p_values, method="holm")[1].tolist()
    )


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60))
def test_against_one_run_the_matched_test_is_mcnemars(pairs: list[tuple[int, int]]) -> None:
    before, after = [old for old, _ in pairs], [new for _, new in pairs]
    worse, better = pairs.count((1, 0)), pairs.count((0, 1))
    assert matched_worse(before, after, 1) == pytest.approx(mcnemar_worse(worse, better), abs=1e-12)


def test_against_several_runs_every_assignment_is_counted() -> None:
    # Three questions: of two earlier runs 2, 1 and 2 are right; the new run has only the second one right.
    # It is right with 2/3 each. At most one of three is right in (1/3)^3 + 3 (2/3) (1/3)^2 = 7/27 of all cases.
    assert matched_worse([2, 1, 2], [0, 1, 0], 2) == pytest.approx(7 / 27)
    assert matched_worse([2, 0], [1, 0], 2) == 1.0
