"""Golds as people have them: every evaluator that compares texts reads the same shapes, and misses the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ais_prompt.errors import DataError, MissingGoldError
from ais_prompt.evaluators import golds_of
from ais_prompt.registry import EVALUATORS
from tests.support.parts import shipped_names

_RIGHT = {
    "AccEvaluator": "Oslo",
    "AnlsEvaluator": "Oslo",
    "BBHEvaluator": "Oslo",
    "BleuEvaluator": "Oslo lies by a fjord",
    "ContainedAnswerEvaluator": "Oslo",
    "DropEvaluator": "Oslo",
    "EMEvaluator": "Oslo",
    "FuzzyMatchEvaluator": "Oslo",
    "Gsm8kEvaluator": "42",
    "JiebaRougeEvaluator": "Oslo",
    "LambadaEvaluator": "Oslo",
    "MATHVerifyEvaluator": "42",
    "MmmuOpenEvaluator": "Oslo",
    "OcrBenchEvaluator": "Oslo",
    "RelaxedAccuracyEvaluator": "Oslo",
    "RougeEvaluator": "Oslo",
    "RoundedNumberEvaluator": "42",
    "SquadEvaluator": "Oslo",
    "StringMatchEvaluator": "Oslo",
}
OF_TEXTS = {name: right for name, right in _RIGHT.items() if name in shipped_names(EVALUATORS)}
"""Evaluator → a right answer; those of an extension only if it is here."""


@pytest.mark.thorough
def test_a_row_without_a_gold_has_no_value() -> None:
    for name in OF_TEXTS:
        for gold in [None, "", " \n", math.nan, np.nan, np.float32("nan"), [None], ["", math.nan]]:
            for answer in ("Oslo", "", None):
                with pytest.raises(MissingGoldError):
                    EVALUATORS.get(name)().score(answer, gold)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.process] * (name == "MATHVerifyEvaluator")) for name in OF_TEXTS]
)
def test_alternatives_in_every_shape(name: str) -> None:
    right = OF_TEXTS[name]
    evaluator = EVALUATORS.get(name)()
    best = evaluator.score(right, right)
    for gold in (
        [right],
        ["7", right],
        ("7", None, right),
        {"text": ["7", right], "answer_start": [0, 4]},
        {"text": right},
        {"value": right, "aliases": ["7"], "normalized_value": "x"},
        {"value": "7", "aliases": ["8", right]},
        [{"text": "7", "answer_start": 0}, {"text": right, "answer_start": 4}],
    ):
        if name == "StringMatchEvaluator":  # the share of the golds that are there
            assert evaluator.score(right, gold)["string_match"] > 0
        else:
            assert evaluator.score(right, gold) == pytest.approx(best)


@pytest.mark.parametrize("gold", [{}, {"answer": "Oslo"}, [{"answer": "Oslo"}], [["Oslo"]], {"text": [["Oslo"]]}])
def test_other_shapes_are_faults(gold: Any) -> None:
    with pytest.raises(DataError, match="gold answer"):
        golds_of(gold)
