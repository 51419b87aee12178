"""The F1 of DROP, against values computed by hand from its definition."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.evaluators import DropEvaluator, Evaluator
from ais_prompt.metrics import best_assignment, normalize_span, span_exact_match, span_f1


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The 3,000-yard run!", "3000.0 yard run"),
        ("14-3", "14.0 3.0"),
        ("$5", "5.0"),
        ("42%", "42.0"),
        ("3.50", "3.5"),
        ("A Tale of the City", "tale of city"),
        ("U.S. Open", "us open"),
        ("theatre", "theatre"),
        ("...", ""),
    ],
)
def test_normalized_spans(text: str, normal: str) -> None:
    assert normalize_span(text) == normal


@pytest.mark.parametrize(
    ("answer", "gold", "f1", "em"),
    [
        (["7"], ["7.0"], 1.0, 1.0),
        (["seven"], ["7"], 0.0, 0.0),
        # The gold has a number that the answer lacks: nothing counts, though a word is common.
        (["8 yards"], ["7 yards"], 0.0, 0.0),
        # The answer has further words: precision 1/2, recall 1, F1 2/3.
        (["7 yards"], ["7"], 0.67, 0.0),
        # A number in the answer only does no harm by itself: precision 1/2, recall 1/1.
        (["7 Lions"], ["Lions"], 0.67, 0.0),
        # Bags are sets: "bye bye" is one word. Precision 1, recall 1; as texts they differ.
        (["bye bye"], ["bye"], 1.0, 0.0),
        (["Queen Otto"], ["Queen Anna"], 0.5, 0.0),
        (["Jones", "Smith"], ["Smith", "Jones"], 1.0, 1.0),
        # One of two spans: 1/2.
        (["Smith"], ["Smith", "Jones"], 0.5, 0.0),
        # A span too many: 2/3.
        (["Smith", "Jones", "Brown"], ["Smith", "Jones"], 0.67, 0.0),
        # Ann with Ann is 1 and Ann Lee with Ann Lee Ray 2 · 1 · 2/3 / (1 + 2/3) = 0.8, more than 2/3 + 1/2 crosswise.
        (["Ann Lee", "Ann"], ["Ann", "Ann Lee Ray"], 0.9, 0.0),
        # The sets of spans are equal, their numbers are not.
        (["Smith", "Smith"], ["Smith"], 0.5, 0.0),
        (["Smith, Jones"], ["Smith", "Jones"], 0.33, 0.0),
        ([""], ["Smith"], 0.0, 0.0),
    ],
)
def test_by_hand(answer: list[str], gold: list[str], f1: float, em: float) -> None:
    assert span_f1(answer, gold) == f1
    assert span_exact_match(answer, gold) == em


@given(
    st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(0, 6), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        )
    )
)
def test_the_best_assignment_is_the_best_of_all(table: list[list[float]]) -> None:
    wide = table if len(table) <= len(table[0]) else [list(row) for row in zip(*table, strict=True)]
    every = permutations(range(len(wide[0])), len(wide))
    best = max(sum(row[column] for row, column in zip(wide, order, strict=True)) for order in every)
    places = best_assignment(table)
    assert sum(table[row][column] for row, column in places) == best
    for used in zip(*places, strict=True):
        assert len(set(used)) == len(places) == len(wide)


@pytest.mark.parametrize(
    ("answer", "gold", "f1"),
    [
        (
            ["tom 8 tom", "lee lee blue 7 lee a", "12 a", "12 tom the"],
            ["lee", "12 red", "12 new 12 blue red new"],
            0.37,
        ),
        (
            ["a ray blue yard ray", "lee red a york ray green", "red blue red the the", "red green new blue red the"],
            [
                "ann ann the a the green",
                "new ray",
                "green",
                "blue new tom tom",
                "the lee red a 12",
                "ann a",
                "green 7 tom 7",
                "ray ann lee york blue",
            ],
            0.23,
        ),
    ],
)
def test_a_mean_at_the_edge_is_rounded_as_the_published_program_rounds_it(
    answer: list[str], gold: list[str], f1: float
) -> None:
    assert span_f1(answer, gold) == f1


@pytest.mark.parametrize(
    ("extracted", "gold", "f1", "em"),
    [
        ("Jones; Smith;", [["Smith", "Jones"]], 1.0, 1.0),
        (["Jones", "Smith"], [["Smith", "Jones"]], 1.0, 1.0),
        ("Anna", [["Queen Anna"], ["Anna"]], 1.0, 1.0),  # the best of several golds
        ("Anna", ["Queen Anna", "Ann"], 0.67, 0.0),
        ("7", "7", 1.0, 1.0),
        ("", [["7"]], 0.0, 0.0),
        ("", [[""], ["7"]], 0.0, 0.0),  # an empty gold is none
        (None, [["7"]], 0.0, 0.0),
    ],
)
def test_scores_of_the_evaluator(extracted: Any, gold: Any, f1: float, em: float) -> None:
    evaluator = DropEvaluator(separator=";")
    assert isinstance(evaluator, Evaluator)
    assert evaluator.score(extracted, gold) == {"f1": f1, "exact_match": em}


def test_votes_are_equal_if_their_spans_are() -> None:
    evaluator = DropEvaluator(separator=";")
    assert evaluator.same_answer("Smith; Jones", "Jones;the Smith")
    assert not evaluator.same_answer("Smith", "Jones")


@pytest.mark.parametrize("gold", [None, [], [[]], [[""]], ""])
def test_a_question_needs_a_gold(gold: Any) -> None:
    with pytest.raises(DataError, match="no gold answer"):
        DropEvaluator().score("7", gold)
