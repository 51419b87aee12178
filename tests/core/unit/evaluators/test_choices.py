"""Log-likelihoods of choices, with values worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import ChoicesAccEvaluator, ChoicesMassEvaluator, Evaluator
from ais_prompt.types import SampleScore

FOUND = {"a": math.log(0.2), "b": math.log(0.1), "c": math.log(0.4), "d": math.log(0.1)}


@pytest.mark.parametrize(
    ("gold", "accuracy", "mass"),
    [
        ("c", 1.0, 0.5),
        (["c"], 1.0, 0.5),
        (["a", "b"], 0.0, 0.375),
        (["a", "c"], 1.0, 0.75),
        (["b", "b"], 0.0, 0.125),
        (["a", "b", "c", "d"], 1.0, 1.0),
    ],
)
def test_right_choices_among_four(gold: Any, accuracy: float, mass: float) -> None:
    assert ChoicesAccEvaluator().score(FOUND, gold) == {"accuracy": accuracy}
    assert ChoicesMassEvaluator().score(FOUND, gold) == {"probability_mass": pytest.approx(mass)}


def test_a_tie_with_a_wrong_choice_is_not_right() -> None:
    assert ChoicesAccEvaluator().score({"a": -2.0, "b": -2.0}, "a") == {"accuracy": 0.0}
    assert ChoicesAccEvaluator().score({"a": -2.0, "b": -2.0, "c": -3.0}, ["a", "b"]) == {"accuracy": 1.0}


def test_probabilities_too_small_for_a_float_have_a_share() -> None:
    found = ChoicesMassEvaluator().score({"a": -2000.0, "b": -2000.0 + math.log(3), "c": -math.inf}, ["a", "c"])
    assert found == {"probability_mass": pytest.approx(0.25)}


def test_the_mean_has_an_interval() -> None:
    evaluator = ChoicesMassEvaluator()
    assert isinstance(evaluator, Evaluator)
    values = [evaluator.score(FOUND, gold) for gold in ("c", ["a", "c"], ["a", "b"])]
    samples = [SampleScore(str(number), "scored", values=value) for number, value in enumerate(values)]
    [score] = evaluator.aggregate([*samples, SampleScore("x", "unparsed"), SampleScore("y", "failed")])
    assert score.value == pytest.approx((0.5 + 0.75 + 0.375 + 0) / 4)
    assert score.interval is not None
    assert 0 <= score.interval[0] < score.value < score.interval[1] <= 1
    assert score.bounds == (pytest.approx(1.625 / 5), pytest.approx(3.625 / 5))


@pytest.mark.parametrize(
    ("extracted", "gold", "message"),
    [
        ("a", "a", "no log-likelihoods"),
        (FOUND, ["a", "e"], "'e' is none of the choices"),
        (FOUND, [], "no gold"),
        (FOUND, None, "no gold"),
    ],
)
def test_what_cannot_be_scored_is_named(extracted: Any, gold: Any, message: str) -> None:
    for evaluator in (ChoicesAccEvaluator(), ChoicesMassEvaluator()):
        with pytest.raises(DataError, match=message):
            evaluator.score(extracted, gold)


def test_nothing_found_is_0() -> None:
    assert ChoicesMassEvaluator().score(None, "a") == {"probability_mass": 0.0}
