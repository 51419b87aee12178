from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.evaluators import Evaluator, Gsm8kEvaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore


@pytest.mark.parametrize(
    ("extracted", "gold", "accuracy"),
    [
        ("18", "18", 1.0),
        ("18.0", "18", 1.0),
        ("18.00", 18, 1.0),
        ("$18", "18", 1.0),
        ("1000", "1,000", 1.0),
        ("1,000", 1000, 1.0),
        ("-3", "-3", 1.0),
        ("3", "-3", 0.0),
        ("٣", "3", 1.0),
        ("18.000001", "18", 0.0),
        ("eighteen", "18", 0.0),
        ("", "0", 0.0),
        (None, "18", 0.0),
        ("10000000000000000000001", "10000000000000000000000", 0.0),
    ],
)
def test_numbers_are_compared_by_value(extracted: Any, gold: Any, accuracy: float) -> None:
    assert Gsm8kEvaluator().score(extracted, gold) == {"accuracy": accuracy}


@pytest.mark.parametrize("gold", ["nan", "eighteen", "so it is\n#### 18"])
def test_a_gold_that_is_not_a_number_is_an_error(gold: Any) -> None:
    with pytest.raises(DataError, match="not a number") as caught:
        Gsm8kEvaluator().score("18", gold)
    assert "gsm8k_dataset_postprocess" in caught.value.fix


@pytest.mark.parametrize(
    ("extracted", "gold", "accuracy"),
    [("none", "None", 1), ("0", "None", 0), (None, "None", 0), ("18.0", "18", 1), ("0", ["zero", "0.0"], 1)],
)  # fmt: skip
def test_a_gold_that_is_no_number_may_be_compared_as_a_text(extracted: Any, gold: Any, accuracy: float) -> None:
    assert Gsm8kEvaluator(or_text=True).score(extracted, gold) == {"accuracy": accuracy}


@pytest.mark.parametrize(
    ("extracted", "gold", "accuracy"),
    [
        ("1250", "1.250 €", 1),
        ("1.250", "1250", 1),
        ("1.25", "1.250", 0),
        ("1250.5", "1.250,50", 1),
        ("0.250", "0,25", 1),
    ],
)
def test_a_point_may_part_thousands(extracted: Any, gold: Any, accuracy: float) -> None:
    assert Gsm8kEvaluator(thousands_point=True).score(extracted, gold) == {"accuracy": accuracy}


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3), st.integers(min_value=0, max_value=5))
def test_trailing_zeros_never_matter(number: Decimal, zeros: int) -> None:
    assert Gsm8kEvaluator().score(f"{number:f}" + "0" * zeros, f"{number:,f}") == {"accuracy": 1.0}


def test_it_is_an_evaluator_and_found_by_name() -> None:
    evaluator = EVALUATORS.get("Gsm8kEvaluator")()
    assert isinstance(evaluator, Evaluator)
    (score,) = evaluator.aggregate([SampleScore("a", "scored", values=evaluator.score("18", "18.0"))])
    assert (score.metric, score.value, score.stderr) == ("accuracy", 1.0, None)
