"""Intervals and p-values of several differences together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import Z, holm, max_t, mean_difference


def questions(values: list[float]) -> list[tuple[str, float]]:
    return [(str(place), value) for place, value in enumerate(values)]


def test_a_single_difference_has_about_its_interval_alone() -> None:
    values = np.random.default_rng(0).normal(0.1, 1, 200).tolist()
    alone = mean_difference(values, best=None)
    found = max_t([questions(values)])
    assert alone.interval is not None
    assert found.intervals[0] == pytest.approx(alone.interval, abs=0.02)
    assert found.p_values[0] == pytest.approx(alone.p, abs=0.02)
    assert found.critical == pytest.approx(Z, abs=0.05)


def test_equal_comparisons_cost_nothing_and_independent_ones_as_much_as_holm() -> None:
    draw = np.random.default_rng(1)
    same = questions(draw.normal(0.3, 1, 60).tolist())
    assert max_t([same] * 8).p_values[0] == max_t([same]).p_values[0]
    apart = [
        [(f"{number}-{name}", value) for name, value in questions(draw.normal(0, 1, 60).tolist())]
        for number in range(8)
    ]
    # Šidák: 8 independent intervals together.
    assert max_t(apart).critical == pytest.approx(2.73, abs=0.2)


def test_comparisons_of_the_same_questions_are_corrected_less_than_by_holm() -> None:
    draw = np.random.default_rng(2)
    shared = draw.normal(0, 1, 60)
    models = [questions((shared + draw.normal(0.35, 0.2, 60)).tolist()) for _ in range(8)]
    by_holm = holm({place: max_t([one]).p_values[0] for place, one in enumerate(models)})
    assert all(own < by_holm[place] for place, own in enumerate(max_t(models).p_values))


def test_a_difference_that_does_not_vary_has_no_interval_and_changes_no_other() -> None:
    varied = questions([1.0, -1.0, 1.0, 1.0, 0.0])
    alone, beside = max_t([varied]), max_t([questions([0.0] * 5), varied, questions([1.0])])
    assert beside.intervals == (None, alone.intervals[0], None)
    assert beside.p_values == (1.0, alone.p_values[0], 1.0)
    assert max_t([questions([0.0])]).intervals == (None,)


DIFFERENCES = st.lists(
    st.lists(st.tuples(st.sampled_from("qrstuvwx"), st.sampled_from([-1.0, 0.0, 0.5, 1.0])), min_size=1, max_size=20),
    min_size=1,
    max_size=5,
)


@given(DIFFERENCES)
def test_an_interval_that_leaves_out_0_has_a_p_value_below_5_percent(
    comparisons: list[list[tuple[str, float]]],
) -> None:
    found = max_t(comparisons)
    for interval, p in zip(found.intervals, found.p_values, strict=True):
        assert 0 < p <= 1
        assert interval is None or p < 0.05 or interval[0] <= 0 <= interval[1]
    # The largest statistic has the smallest p-value, and is judged as its interval says.
    if any(found.intervals) and min(found.p_values) < 0.05:
        assert any(one is not None and not one[0] <= 0 <= one[1] for one in found.intervals)
    assert max_t(comparisons[::-1]).p_values == pytest.approx(found.p_values[::-1])
