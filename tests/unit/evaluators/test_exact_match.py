from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators.base import Evaluator
from ais_prompt.evaluators.exact_match import EMEvaluator
from ais_prompt.registry import EVALUATORS


@pytest.mark.parametrize(
    ("extracted", "gold", "expected"),
    [
        ("Paris", "Paris", 1.0),
        ("The Paris. It is big", "Paris", 1.0),
        ("Paris, France", ["Rome", "Paris"], 1.0),
        ("Paris", "paris", 0.0),
        ("P", "Paris", 0.0),
        ("3.14", "3", 0.0),
        ("3", 3, 1.0),
        ("-", "-", 1.0),
        ("-", "+", 0.0),
        (None, "Paris", 0.0),
        ("", "Paris", 0.0),
    ],
)
def test_what_matters_is_what_is_said(extracted: Any, gold: Any, expected: float) -> None:
    assert EMEvaluator().score(extracted, gold) == {"exact_match": expected}


def test_case_can_be_ignored() -> None:
    assert EMEvaluator(ignore_case=True).score("paris", ["PARIS"]) == {"exact_match": 1.0}


def test_no_gold_is_an_error() -> None:
    with pytest.raises(DataError, match="no gold"):
        EMEvaluator().score("Paris", None)


def test_it_is_an_evaluator_and_found_by_name() -> None:
    assert isinstance(EVALUATORS.get("EMEvaluator")(), Evaluator)
