"""Metrics of LongBench, against values of the published program."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.long_bench import (
    LongBenchClassificationEvaluator,
    LongBenchCodeSimEvaluator,
    LongBenchCountEvaluator,
    LongBenchRetrievalEvaluator,
    LongBenchRougeEvaluator,
)
from tests.core.unit.evaluators.test_short_answers import GOLDS, WORDS


@pytest.mark.thorough
@pytest.mark.parametrize(
    "evaluator",
    [LongBenchCodeSimEvaluator(), LongBenchCountEvaluator(), LongBenchRougeEvaluator()],
    ids=lambda one: type(one).__name__,
)
@given(answer=st.none() | WORDS, gold=GOLDS | st.lists(GOLDS, min_size=1, max_size=3))
def test_values_are_from_0_to_1(evaluator: Any, answer: str | None, gold: Any) -> None:
    [(metric, value)] = evaluator.score(answer, gold).items()
    assert evaluator.metrics == (metric,)
    assert 0 <= value <= 1


def test_a_class_beside_others_counts_less() -> None:
    gold = {"answers": ["Food"], "all_classes": ["Food", "Animal", "Sport"]}
    evaluator = LongBenchClassificationEvaluator()
    assert [evaluator.value(answer, gold) for answer in ("Food", "Food or Animal", "Sport")] == [1, 0.5, 0]
    with pytest.raises(DataError, match="all_classes"):
        evaluator.value("Food", ["Food"])


def test_of_classes_in_the_name_of_the_right_one_every_second_counts_as_in_the_published_program() -> None:
    gold = {"answers": ["abc"], "all_classes": ["a", "b", "c", "abc"]}
    assert LongBenchClassificationEvaluator().value("abc", gold) == 1 / 2


def test_a_gold_without_paragraph_is_an_error() -> None:
    with pytest.raises(DataError, match="names no paragraph"):
        LongBenchRetrievalEvaluator("zh").value("3", ["Paragraph 3"])


def test_rouge_of_long_bench_is_that_of_the_published_package() -> None:
    evaluator = LongBenchRougeEvaluator()
    for answer, gold, expected in (  # values of `rouge` 1.0.1
        ("The cat sat on the mat. It was happy.", "A cat was on the mat. It looked very happy.", 0.7368421002770082),
        ("the the the", "the cat", 0.6666666622222223),  # each word counts once
        ("a b c d", "d c b a", 0.24999999500000009),
        ("x. . y", "y x", 0.7999999952000001),  # a blank sentence is a word
        ("Costs rose, said the report.", "The report said that costs rose sharply. Prices fell.", 0.14285713826530627),
        ("", "a", 0.0),
        ("...", "a", 0.0),
    ):
        assert evaluator.value(answer, gold) == pytest.approx(expected, abs=1e-12)
    assert evaluator.value("a b", ["c", "a b"]) == pytest.approx(1.0)
    assert evaluator.value("a b c d e " * 200, "a b c d e " * 8) == pytest.approx(1.0)


@pytest.mark.thorough
def test_rouge_of_long_bench_compares_chinese_words() -> None:
    pytest.importorskip("jieba")
    evaluator = LongBenchRougeEvaluator("zh")
    assert evaluator.value("北京是中国的首都", "中国的首都是北京") == pytest.approx(0.5999999950000001, abs=1e-12)
    assert LongBenchRougeEvaluator().value("北京是中国的首都", "中国的首都是北京") == 0
