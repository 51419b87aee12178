from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.metrics import Repeatability, Z, repeatability, round_widths_below


def apart(answers: Sequence[Sequence[float]]) -> list[tuple[str, Sequence[float]]]:
    """Questions that belong to no cluster."""
    return [(str(number), values) for number, values in enumerate(answers)]


@pytest.mark.thorough
def test_variances_between_and_within_questions_are_found() -> None:
    draw = np.random.default_rng(3)
    hard = draw.beta(2, 1, 4000)
    found = repeatability(apart(draw.binomial(1, hard[:, None], (4000, 6)).astype(float).tolist()))
    assert found is not None
    assert found.between == pytest.approx(hard.var(), abs=0.005)
    assert found.within == pytest.approx((hard * (1 - hard)).mean(), abs=0.005)


def test_the_repeats_that_are_needed_are_enough_and_one_fewer_is_not() -> None:
    found = Repeatability(between=0.05, within=0.2, questions=400)
    for half_width in (0.05, 0.03, 0.025):
        repeats = found.repeats_needed(half_width)
        assert repeats is not None
        assert found.half_width(repeats) <= half_width + 1e-12
        assert repeats == 1 or found.half_width(repeats - 1) > half_width


def test_where_questions_differ_too_much_no_number_of_repeats_is_enough() -> None:
    assert Repeatability(between=0.05, within=0.2, questions=400).repeats_needed(0.02) is None


def test_answers_that_always_agree_have_no_variance_within() -> None:
    found = repeatability(apart([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]))
    assert found is not None
    assert found.within == 0
    assert found.repeats_needed(1.0) == 1


def test_one_answer_to_each_question_tells_nothing() -> None:
    assert repeatability(apart([[1.0], [0.0]])) is None
    assert repeatability(apart([[1.0, 0.0]])) is None


def test_clusters_are_the_units_of_the_interval() -> None:
    draw = np.random.default_rng(5)
    passages = np.repeat(draw.beta(2, 2, 100), 20)
    answers = draw.binomial(1, passages[:, None], (2000, 4)).astype(float).tolist()
    clustered = repeatability([(str(number // 20), values) for number, values in enumerate(answers)])
    alone = repeatability(apart(answers))
    assert clustered is not None
    assert alone is not None
    assert clustered.within == alone.within
    # The mean of 100 passages varies as 100 independent questions do, not as 2,000.
    assert clustered.half_width(math.inf) == pytest.approx(Z * passages.std() / 10, rel=0.05)
    assert alone.half_width(math.inf) < clustered.half_width(math.inf) / 3


@pytest.mark.parametrize(
    ("half_width", "expected"),
    [(0.016, [0.01, 0.005, 0.002]), (0.01, [0.005, 0.002, 0.001]), (0.0205, [0.01, 0.005, 0.002]), (7.3, [5, 2, 1])],
)
def test_targets_are_round_and_clearly_narrower(half_width: float, expected: list[float]) -> None:
    assert round_widths_below(half_width, 3) == expected


@given(st.floats(1e-9, 1e9))
def test_a_target_is_between_a_third_of_the_half_width_and_nine_tenths(half_width: float) -> None:
    [target] = round_widths_below(half_width, 1)
    assert 0.35 * half_width < target <= 0.9 * half_width
    assert str(f"{target:e}")[0] in "125"


@given(st.floats(0, 0.25), st.floats(0.001, 0.25), st.integers(2, 5000), st.integers(2, 64))
def test_the_precision_asks_for_more_answers_that_reach_the_target(
    between: float, within: float, questions: int, repeats: int
) -> None:
    found = Repeatability(between, within, questions)
    precision = found.precision(repeats)
    assert precision is not None
    if precision.repeats is None:
        assert found.half_width(math.inf) >= precision.target * (1 - 1e-9)
    else:
        assert precision.repeats > repeats
        assert found.half_width(precision.repeats) <= precision.target * (1 + 1e-9)


def test_there_is_no_target_where_nothing_varies() -> None:
    assert Repeatability(0.0, 0.0, 10).precision(4) is None
