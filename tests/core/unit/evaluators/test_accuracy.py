from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import AccEvaluator, Evaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore


@pytest.mark.parametrize(
    ("extracted", "gold", "accuracy"),
    [
        ("B", "B", 1.0),
        (" B\n", "B", 1.0),
        ("3", 3, 1.0),
        ("b", "B", 0.0),
        ("3.0", 3, 0.0),
        ("", "B", 0.0),
        (None, "B", 0.0),
        (None, "None", 0.0),
        ("B C", "B  C", 0.0),
    ],
)
def test_answer_and_gold_are_compared_as_text(extracted: Any, gold: Any, accuracy: float) -> None:
    assert AccEvaluator().score(extracted, gold) == {"accuracy": accuracy}


def test_case_can_be_ignored() -> None:
    assert AccEvaluator(ignore_case=True).score("STRASSE", "Straße") == {"accuracy": 1.0}


def test_no_gold_is_an_error() -> None:
    with pytest.raises(DataError, match="no gold"):
        AccEvaluator().score("B", None)


def test_it_is_an_evaluator_and_found_by_name() -> None:
    evaluator = EVALUATORS.get("AccEvaluator")()
    assert isinstance(evaluator, Evaluator)
    (score,) = evaluator.aggregate(
        [
            SampleScore("a", "scored", values=evaluator.score("B", "B")),
            SampleScore("b", "scored", values=evaluator.score("C", "B")),
            SampleScore("c", "failed"),
        ]
    )
    assert (score.metric, score.value, score.n) == ("accuracy", 0.5, 3)
