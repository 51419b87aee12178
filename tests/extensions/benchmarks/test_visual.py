"""Metrics of questions about images, on pairs whose values follow from the published rules."""

from __future__ import annotations

import math

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import (
    AnlsEvaluator,
    MmmuOpenEvaluator,
    OcrBenchEvaluator,
    RelaxedAccuracyEvaluator,
    RoundedNumberEvaluator,
    VqaAccuracyEvaluator,
)


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("ITC  limited", ["itc limited", "ITC"], 1),  # white space costs nothing
        ("june", "June", 1),
        ("juna", ["june"], 3 / 4),
        ("ab", "abcd", 1 / 2),  # the threshold itself counts
        ("a", "abcd", 0),
        ("", "x", 0),
    ],
)
def test_anls(answer: str, gold: object, value: float) -> None:
    assert AnlsEvaluator().value(answer, gold) == pytest.approx(value)


def test_anls_counts_from_its_threshold() -> None:
    assert AnlsEvaluator(threshold=0.8).value("juna", "june") == 0


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("42", "40", 1),
        ("42.1", "40", 0),
        ("-38", "-40", 1),
        ("0.2", "20%", 1),
        ("20", "20%", 0),
        ("0", "0", 1),
        ("0.001", "0", 0),
        ("0.0", "0", 0),  # of a gold that is 0 no share can be taken: the texts count
        ("1,000", "1000", 0),
        ("20 %", "0.2", 1),
        ("5 km", "5", 0),  # as published: a unit makes a number a text
        ("Größe", "größe", 1),
        ("yes ", "Yes", 1),
        ("yes", "yes it is", 0),
    ],
)
def test_relaxed_accuracy(answer: str, gold: str, value: float) -> None:
    assert RelaxedAccuracyEvaluator().value(answer, gold) == value


@pytest.mark.parametrize(("people", "value"), [(0, 0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1), (10, 1)])
def test_vqa_accuracy_of_so_many_people_among_ten(people: int, value: float) -> None:
    golds = ["stop"] * people + [f"other {number}" for number in range(10 - people)]
    assert VqaAccuracyEvaluator().value("stop", golds) == pytest.approx(value)


def test_vqa_accuracy_is_the_same_in_every_python() -> None:
    golds = ["stop", *(f"other {number}" for number in range(10))]
    assert VqaAccuracyEvaluator().value("stop", golds) == math.fsum(10 * [1 / 3]) / 11  # not so by `sum` of 3.11


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The two dogs.", "2 dogs"),
        ("dont", "don't"),
        ("couldntve", "couldn'tve"),
        ("1,000", "1000"),
        ("x-ray", "x ray"),
        ("none", "0"),
        ("Coca Cola!", "coca cola"),
    ],
)
def test_vqa_accuracy_compares_normal_texts(answer: str, said: str) -> None:
    equal = 0 if answer == "couldntve" else 1  # only one apostrophe may be missing
    assert VqaAccuracyEvaluator().value(answer, [said] * 10) == equal


def test_vqa_accuracy_needs_several_people() -> None:
    with pytest.raises(DataError, match="several people"):
        VqaAccuracyEvaluator().value("stop", "stop")


@pytest.mark.parametrize(
    ("answer", "gold", "formulas", "value"),
    [
        ("It says LONDON\nBRIDGE.", ["london bridge"], False, 1),
        ("Londoner", ["london"], False, 1),  # as published: parts of words count
        ("York", ["New York"], False, 0),
        ("$x^{2}$", ["x ^ { 2 }"], True, 1),
        ("X^{2}", ["x^{2}"], True, 0),
    ],
)
def test_ocr_bench(answer: str, gold: list[str], formulas: bool, value: float) -> None:
    assert OcrBenchEvaluator(formulas).value(answer, gold) == value


@pytest.mark.parametrize(
    ("answer", "gold", "decimals", "value"),
    [
        ("7", "7", 0, 1),
        ("7.9", "7", 0, 1),  # as published: cut off
        ("8", "7", 0, 0),
        ("1.52", "1.5", 1, 1),
        ("1.56", "1.5", 1, 0),
        ("0.504", "0.5", 2, 1),
        ("0.52", "0.5", 2, 0),
        ("seven", "7", 0, 0),
    ],
)
def test_numbers_of_mathvista(answer: str, gold: str, decimals: int, value: float) -> None:
    assert RoundedNumberEvaluator(decimals).value(answer, gold) == value


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("8.32 m/s", ["8.32"], 1),  # the unit does not count
        ("8.324", ["8.32"], 1),  # two digits behind the point
        ("8.33", ["8.32"], 0),
        ("1,234 €", ["1234"], 1),
        ("The area is 2.5e3.", ["2500"], 1),
        ("12%", ["12"], 1),
        ("So x = 5", ["5"], 1),  # the last line may be an equation
        ("x = 5\nIt follows from the law.", ["5"], 1),  # without any conclusion, all of the answer counts
        ("x = 5\nThe result is 6", ["5"], 0),
        ("It is the Krebs cycle", ["krebs cycle"], 1),
        ("It is 東京タワー", ["東京", "Tokyo"], 1),
        ("15", ["5"], 0),  # a number must be equal
        ("ab", ["a"], 0),  # a letter needs a blank beside it
        ("A.", ["A"], 1),
        ("", ["5"], 0),
    ],
)
def test_open_questions_of_mmmu(answer: str, gold: list[str], value: float) -> None:
    assert MmmuOpenEvaluator().value(answer, gold) == value
