"""chrF, TER and WER are those of the packages, over all answers together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.evaluators import SummedEvaluator
from ais_prompt.extensions.benchmarks.corpus import ChrfEvaluator, TerEvaluator, WerEvaluator
from ais_prompt.types import SampleScore, lower_is_better
from tests.support.lazy import Lazy

sacrebleu = Lazy("sacrebleu.metrics")
GOLDS: Final = st.text("ab c", min_size=1, max_size=12).filter(str.strip)
TEXTS: Final = st.lists(st.tuples(st.text("ab c", max_size=12), GOLDS), min_size=1)


def whole(evaluator: SummedEvaluator, pairs: Sequence[tuple[str, Any]]) -> float:
    scores = [SampleScore(str(n), "scored", answer, gold) for n, (answer, gold) in enumerate(pairs)]
    [score] = evaluator.aggregate(scores)
    assert score.value is not None
    return score.value


@given(pairs=TEXTS)
def test_chrf_and_ter_are_those_of_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    pytest.importorskip("sacrebleu")
    answers, references = [answer for answer, _ in pairs], [[gold for _, gold in pairs]]
    for order in (0, 2):
        expected = sacrebleu.CHRF(word_order=order).corpus_score(answers, references).score
        assert whole(ChrfEvaluator(order), pairs) == pytest.approx(expected)
    assert whole(TerEvaluator(), pairs) == pytest.approx(sacrebleu.TER().corpus_score(answers, references).score)


@given(pairs=TEXTS)
def test_wer_is_that_of_jiwer(pairs: list[tuple[str, str]]) -> None:
    jiwer = pytest.importorskip("jiwer")
    expected = jiwer.wer([gold for _, gold in pairs], [answer for answer, _ in pairs])
    assert whole(WerEvaluator(), pairs) == pytest.approx(100 * expected)


CASES: Final[list[tuple[SummedEvaluator, str | None, Any, float]]] = [
    (WerEvaluator(), "the cat", "the cat sat down", 50.0),
    (WerEvaluator(), "a b c d", "a", 300.0),
    (WerEvaluator(), None, "a b", 100.0),
    (WerEvaluator(), "a b", ["x y z", "a b"], 0.0),
    (WerEvaluator(characters=True), "我爱", "我爱你", 100 / 3),
    (TerEvaluator(), "the cat sat", "the cat sat down", 25.0),
    (TerEvaluator(asian=True), "我爱", "我爱你们", 50.0),
    (ChrfEvaluator(), "the cat", "the cat", 100.0),
    (ChrfEvaluator(), None, "the cat", 0.0),
]


def test_single_answers() -> None:
    pytest.importorskip("jiwer")
    pytest.importorskip("sacrebleu")
    for evaluator, answer, gold, expected in CASES:
        found = evaluator.score(answer, gold)  # type: ignore[attr-defined]
        assert found == {evaluator.metrics[0]: pytest.approx(expected)}, (type(evaluator), answer, gold)
        assert lower_is_better(evaluator.metrics[0]) is not isinstance(evaluator, ChrfEvaluator)
