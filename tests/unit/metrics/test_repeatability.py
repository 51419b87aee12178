from __future__ import annotations

import numpy as np
import pytest

from ais_prompt.metrics.repeated import Repeatability, repeatability


def test_variances_between_and_within_questions_are_found() -> None:
    draw = np.random.default_rng(3)
    hard = draw.beta(2, 1, 4000)
    found = repeatability(draw.binomial(1, hard[:, None], (4000, 6)).astype(float).tolist())
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
    found = repeatability([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    assert found is not None
    assert found.within == 0
    assert found.repeats_needed(1.0) == 1


def test_one_answer_to_each_question_tells_nothing() -> None:
    assert repeatability([[1.0], [0.0]]) is None
    assert repeatability([[1.0, 0.0]]) is None
