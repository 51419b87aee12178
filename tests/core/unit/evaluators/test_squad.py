from __future__ import annotations

import math
import re
import string
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import Evaluator, SquadEvaluator
from ais_prompt.metrics import exact_match, token_f1
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore
from tests.core.unit.evaluators.random_text import pairs


def published_tokens(text: str) -> list[str]:
    """The four steps of the published program, one after the other."""
    small = text.lower()
    without_punctuation = "".join(sign for sign in small if sign not in set(string.punctuation))
    without_articles = re.sub(r"\b(a|an|the)\b", " ", without_punctuation)
    return without_articles.split()


def published_f1(answer: str, gold: str) -> float:
    """Every token of the answer may be matched with one token of the gold."""
    left = published_tokens(gold)
    answered, expected = len(published_tokens(answer)), len(left)
    same = 0
    for token in published_tokens(answer):
        if token in left:
            left.remove(token)
            same += 1
    return 2 * (same / answered) * (same / expected) / (same / answered + same / expected) if same else 0.0


@pytest.mark.thorough
def test_against_the_published_definition() -> None:
    for answer, golds in pairs(1000):
        assert token_f1(answer, golds) == pytest.approx(max(published_f1(answer, gold) for gold in golds), abs=1e-15)
        equal = [published_tokens(answer) == published_tokens(gold) for gold in golds]
        assert exact_match(answer, golds) == float(any(equal))


@pytest.mark.parametrize(
    ("answer", "golds", "f1", "em"),
    [
        ("The Eiffel Tower!", ["eiffel tower"], 1.0, 1.0),
        ("Eiffel", ["the Eiffel Tower"], 2 / 3, 0.0),
        ("a b b", ["b b b c"], pytest.approx(2 * 1 * 0.5 / 1.5), 0.0),  # "a" is an article
        ("Rome", ["Paris", "Rome, Italy", "rome"], 1.0, 1.0),
        ("Rome", ["Paris"], 0.0, 0.0),
        ("", ["Paris"], 0.0, 0.0),
        ("the", ["a"], 0.0, 1.0),
    ],
)
def test_by_hand(answer: str, golds: list[str], f1: float, em: float) -> None:
    assert token_f1(answer, golds) == f1
    assert exact_match(answer, golds) == em


def test_only_the_first_line_counts_unless_told_otherwise() -> None:
    assert SquadEvaluator().score("\nParis\n\nQuestion: and Rome?", "Paris") == {"f1": 1.0, "exact_match": 1.0}
    assert SquadEvaluator(first_line=False).score("Paris\nFrance", "Paris France")["f1"] == 1.0


@pytest.mark.parametrize("gold", ["Paris", ["Rome", "Paris"], {"text": ["Paris"], "answer_start": [3]}, ("Paris",)])
def test_golds_come_in_many_shapes(gold: Any) -> None:
    assert SquadEvaluator().score("Paris", gold)["exact_match"] == 1.0


@pytest.mark.parametrize("gold", [None, "", {"text": None}, [None], [""], math.nan])
def test_no_gold_is_an_error(gold: Any) -> None:
    with pytest.raises(DataError, match="no gold"):
        SquadEvaluator().score("Paris", gold)


@pytest.mark.parametrize("gold", [[], {"text": [], "answer_start": []}])
@pytest.mark.parametrize("tokenize", ["words", "jieba"])
def test_a_question_without_an_answer(gold: Any, tokenize: Any) -> None:
    evaluator = SquadEvaluator(tokenize=tokenize)
    assert evaluator.accepts_silence(gold)
    assert evaluator.score("", gold) == {"f1": 1.0, "exact_match": 1.0}
    assert evaluator.score("Oslo", gold) == {"f1": 0.0, "exact_match": 0.0}


@pytest.mark.parametrize("mark", ["。", "！", "，", "、", "；", "」", "”", "…", " ", "."])
def test_punctuation_makes_no_chinese_answer_wrong(mark: str) -> None:
    evaluator = SquadEvaluator(tokenize="jieba")
    for answer in (f"东京{mark}", f"{mark}东京", f"「东京」{mark}"):
        assert evaluator.score(answer, "东京") == {"f1": 1.0, "exact_match": 1.0}, answer
        assert evaluator.score("东京", [answer, "大阪"]) == {"f1": 1.0, "exact_match": 1.0}, answer
        assert evaluator.same_answer(answer, "东京")
    assert evaluator.score(f"东京{mark}塔", "东京")["exact_match"] == 0.0
    assert not evaluator.same_answer("东京", "京东")


def test_it_is_an_evaluator_and_found_by_name() -> None:
    evaluator = EVALUATORS.get("SquadEvaluator")()
    assert isinstance(evaluator, Evaluator)
    scored = SampleScore("a", "scored", values=evaluator.score("Eiffel", "Eiffel Tower"))
    f1, em = evaluator.aggregate([scored, SampleScore("b", "unparsed"), SampleScore("c", "failed")])
    assert (f1.metric, f1.value) == ("f1", pytest.approx(1 / 3))
    assert (em.metric, em.value) == ("exact_match", 0.0)
