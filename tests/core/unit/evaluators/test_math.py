from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import Evaluator, MATHVerifyEvaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = pytest.mark.process

pytest.importorskip("math_verify")

RIGHT = {"accuracy": 1.0, "timeout": 0.0}
WRONG = {"accuracy": 0.0, "timeout": 0.0}
STOPPED = {"accuracy": 0.0, "timeout": 1.0}


@pytest.fixture(scope="module")
def evaluator() -> MATHVerifyEvaluator:
    return MATHVerifyEvaluator(timeout=WATCHDOG_SECONDS)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"\frac{1}{2}", "0.5"),
        (r"\frac{1}{2}", "1/2"),
        (r"\frac12", r"\frac{2}{4}"),
        (r"-\frac{1}{3}", "-1/3"),
        ("3", "x=3"),
        ("18", "$18"),
        ("1,000", "1000"),
        (r"2\sqrt{3}", r"\sqrt{12}"),
        (r"50\%", "0.5"),
        ("x^2+2x+1", "(x+1)^2"),
        ("(1,2)", "(1, 2)"),
        (r"\{1,2\}", r"\{2,1\}"),
        (r"12\text{ cm}", "12"),
        (r"\text{Evelyn}", "Evelyn"),
        ("A", "A"),
        ("5", "Let us see. The answer is $5$."),
        (r"x \le 3", r"3 \ge x"),
        (7, 7.0),
        ("18.90", r"\$18.90"),
        (r"\$ 18.90", "18.9"),
        ("18.90", r"$\$18.90$"),
        ("18.90", "€18.90"),
        ("-5", r"-\$5"),
        ("12", r"\$12\text{ per hour}"),
        ("10", r"10\%"),
        ("1000", r"\$1{,}000"),
        ("1000000", r"1\,000\,000"),
        ("10080", r"10,\!080"),
        ("12", r"\!12\;"),
        ("(1,2)", r"(1,\,2)"),
        ("5", r"5\,\text{cm}"),
        (r"36^\circ", "36"),
    ],
)
def test_what_is_the_same(evaluator: MATHVerifyEvaluator, gold: Any, answer: Any) -> None:
    assert evaluator.score(answer, gold) == RIGHT


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("10", "9"),
        ("10", r"\$100"),
        ("19", r"\$18.90"),
        ("1", r"1{,}000"),
        ("12", r"1\,2"),
        ("1.2", r"1{,}2"),
        ("5", r"6\text{ cm}"),
        ("(1,2)", "(2,1)"),
        ("[0,1)", "[0,1]"),
        (r"\pi", "3.14159"),
        ("A", "B"),
        ("3", None),
        ("3", ""),
        ("3", r"\frac{"),
        ("3", "\ud800\x00"),
        ("3", "line\nbreak"),
    ],
)
def test_what_is_not(evaluator: MATHVerifyEvaluator, gold: str, answer: str | None) -> None:
    assert evaluator.score(answer, gold) == WRONG


def test_an_answer_that_takes_too_long_is_counted_and_the_next_one_compared() -> None:
    evaluator = MATHVerifyEvaluator(timeout=1)
    assert evaluator.score("9^{9^{9^{9}}}", "1") == STOPPED
    evaluator.timeout = WATCHDOG_SECONDS
    assert evaluator.score("2/4", "0.5") == RIGHT


def test_it_works_in_any_thread(evaluator: MATHVerifyEvaluator) -> None:
    found: list[Mapping[str, float]] = []
    threads = [threading.Thread(target=lambda: found.append(evaluator.score("2/4", "0.5"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [RIGHT] * 4


@pytest.mark.parametrize("gold", [None, "", " "])
def test_no_gold_is_an_error(evaluator: MATHVerifyEvaluator, gold: Any) -> None:
    with pytest.raises(DataError, match="no gold"):
        evaluator.score("3", gold)


@pytest.mark.parametrize("name", ["MATHVerifyEvaluator", "MATHEvaluator"])
def test_it_is_an_evaluator_and_found_by_name(name: str) -> None:
    assert isinstance(EVALUATORS.get(name)(), Evaluator)


def test_time_limits_are_told_where_they_were_met(evaluator: MATHVerifyEvaluator) -> None:
    right, stopped = SampleScore("a", "scored", values=RIGHT), SampleScore("b", "scored", values=STOPPED)
    assert [(score.metric, score.value) for score in evaluator.aggregate([right, right])] == [("accuracy", 1.0)]
    accuracy, timeout = evaluator.aggregate([right, stopped])
    assert (accuracy.value, timeout.metric, timeout.value, timeout.fraction) == (0.5, "timeout", 0.5, True)
    assert timeout.bounds is None
