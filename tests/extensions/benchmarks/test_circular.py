from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.evaluators import CircularEvaluator
from ais_prompt.types import SampleScore, Score

ORDERS = ("ABCD", "BCDA", "CDAB", "DABC")
EVALUATOR = CircularEvaluator()


def gold_of(question: int, option: str, order: str) -> str:
    """The gold of a question whose right option in the order ABCD is ``option``."""
    return f"{question}--{'ABCD'[order.index(option)]}--{order}"


def scored(question: int, order: str, letter: str | None, option: str = "B", **changes: Any) -> SampleScore:
    gold = gold_of(question, option, order)
    values = EVALUATOR.score(letter, gold)
    return SampleScore(**{"sample_id": f"{question}{order}", "status": "scored", "extracted": letter, "gold": gold,
                          "values": values} | changes)  # fmt: skip


def aggregated(scores: list[SampleScore]) -> dict[str, Score]:
    return {score.metric: score for score in EVALUATOR.aggregate(scores)}


def values_of(scores: list[SampleScore]) -> dict[str, float | None]:
    return {metric: score.value for metric, score in aggregated(scores).items()}


def meaning(option: str, order: str) -> str:
    """The letter that means an option in an order."""
    return "ABCD"[order.index(option)]


def test_a_model_that_always_says_the_same_letter_is_right_once() -> None:
    scores = [scored(question, order, "A") for question, order in product(range(5), ORDERS)]
    assert values_of(scores) == {"acc_4": 0.25, "acc_1": 0.0, "perf_4": 0.0, "vote_4": 0.0}


def test_a_model_that_means_the_right_option_in_three_orders_wins_the_vote() -> None:
    answers = [meaning("B", order) for order in ORDERS[:3]] + [meaning("C", ORDERS[3])]
    scores = [scored(1, order, letter) for order, letter in zip(ORDERS, answers, strict=True)]
    assert values_of(scores) == {"acc_4": 0.75, "acc_1": 1.0, "perf_4": 0.0, "vote_4": 1.0}


def test_counts_are_of_what_each_metric_is_a_mean_of() -> None:
    scores = aggregated([scored(question, order, "A") for question, order in product(range(5), ORDERS)])
    assert [scores[metric].n for metric in EVALUATOR.metrics] == [20, 5, 5, 5]


def test_a_failed_answer_fails_its_question_only() -> None:
    scores = [scored(question, order, meaning("B", order)) for question, order in product(range(3), ORDERS)]
    scores[5] = SampleScore(scores[5].sample_id, "failed", gold=scores[5].gold, reason="timeout")
    found = aggregated(scores)
    assert found["perf_4"].counts["failed"] == 1
    assert found["perf_4"].value == 1.0
    assert found["acc_4"].value == 1.0
    assert found["acc_4"].counts["failed"] == 1


def test_an_unparsed_answer_counts_as_wrong() -> None:
    scores = [scored(1, order, meaning("B", order)) for order in ORDERS]
    scores[2] = scored(1, ORDERS[2], None, status="unparsed")
    found = aggregated(scores)
    assert found["perf_4"].value == 0.0
    assert found["perf_4"].counts["unparsed"] == 1
    assert found["vote_4"].value == 1.0


def test_answers_to_a_question_are_one_cluster() -> None:
    alike = [scored(question, order, "A" if question else "x") for question, order in product(range(8), ORDERS)]
    found = aggregated(alike)["acc_4"]
    assert found.value == pytest.approx(7 / 32)
    assert found.stderr is not None
    assert found.stderr == pytest.approx(0.03125, rel=0.1)  # of eight questions, seven with 0.25 and one with 0


def test_several_answers_to_each_order() -> None:
    def answers(order: str) -> SampleScore:
        right, wrong = scored(1, order, meaning("B", order)), scored(1, order, "x")
        return scored(1, order, None, repeats=(right, wrong), values={"acc_4": 0.5})

    found = aggregated([answers(order) for order in ORDERS])
    assert found["perf_4"].value == 0.5  # of the first answers all are right, of the second none


@given(st.lists(st.lists(st.sampled_from("ABCDx"), min_size=4, max_size=4), min_size=1, max_size=6))
def test_the_order_of_the_samples_does_not_matter(answers: list[list[str]]) -> None:
    scores = [
        scored(n, order, letter) for n, one in enumerate(answers) for order, letter in zip(ORDERS, one, strict=True)
    ]
    forward, backward = values_of(scores), values_of(scores[::-1])
    del forward["vote_4"], backward["vote_4"]  # of equal votes the first answer decides
    assert forward == pytest.approx(backward)
    assert forward["perf_4"] <= forward["acc_1"]


@pytest.mark.parametrize("gold", ["A", "1--E--ABCD", "1--A--ACBD", None])
def test_another_gold_is_an_error(gold: Any) -> None:
    with pytest.raises(DataError, match="question--letter--order"):
        EVALUATOR.score("A", gold)
