from __future__ import annotations

from typing import Any, Literal

import pytest
from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.evaluators import BleuEvaluator, Evaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from tests.core.unit.evaluators.random_text import pairs

sacrebleu = pytest.importorskip("sacrebleu.metrics")


def corpus(evaluator: BleuEvaluator, answers: list[tuple[Any, Any]]) -> Score:
    samples = [
        SampleScore(str(row), "scored", answer, gold, evaluator.score(answer, gold))
        for row, (answer, gold) in enumerate(answers)
    ]
    (score,) = evaluator.aggregate(samples)
    return score


def columns(golds: list[list[str]]) -> list[list[str | None]]:
    """References as sacrebleu wants them: the first of every text, the second of every text, ..."""
    most = max(map(len, golds))
    return [[gold[place] if place < len(gold) else None for gold in golds] for place in range(most)]


@pytest.mark.thorough
@pytest.mark.parametrize(("tokenize", "chinese"), [("13a", False), ("intl", False), ("zh", True), ("char", True)])
def test_against_sacrebleu(tokenize: Literal["13a", "intl", "zh", "char"], chinese: bool) -> None:
    texts = pairs(1000, chinese)
    evaluator = BleuEvaluator(tokenize=tokenize)
    golds = [gold for _, gold in texts]
    whole = sacrebleu.BLEU(tokenize=tokenize).corpus_score([answer for answer, _ in texts], columns(golds))
    assert corpus(evaluator, list(texts)).value == pytest.approx(whole.score, abs=1e-12)
    single = sacrebleu.BLEU(tokenize=tokenize, effective_order=True)
    for answer, gold in texts:
        assert evaluator.score(answer, gold)["bleu"] == single.sentence_score(answer, gold).score


def test_case_can_be_ignored() -> None:
    gold = "the cat sat on the mat"
    assert corpus(BleuEvaluator(), [(gold.upper(), gold)]).value == 0
    assert corpus(BleuEvaluator(lowercase=True), [(gold.upper(), gold)]).value == pytest.approx(100)


def test_unread_answers_are_empty_and_failed_ones_left_out() -> None:
    evaluator, gold = BleuEvaluator(), "the cat sat on the mat today"
    full = SampleScore("a", "scored", gold, gold)
    (score,) = evaluator.aggregate([full, SampleScore("b", "failed", None, gold)])
    assert score.value == pytest.approx(100)
    (score,) = evaluator.aggregate([full, SampleScore("b", "unparsed", None, gold)])
    expected = sacrebleu.BLEU().corpus_score([gold, ""], [[gold, gold]]).score
    assert score.value == pytest.approx(expected)
    assert score.counts == {"scored": 1, "unparsed": 1, "truncated": 0, "failed": 0}
    (score,) = evaluator.aggregate([SampleScore("b", "failed", None, gold)])
    assert (score.value, score.stderr, score.interval) == (None, None, None)


def test_every_answer_to_a_question_counts() -> None:
    evaluator, gold = BleuEvaluator(), "the cat sat on the mat"
    answers = [SampleScore("a", "scored", text, gold) for text in (gold, "the cat ran on the mat")]
    failed = SampleScore("a", "failed", None, gold)
    (once,) = evaluator.aggregate(answers)
    (repeated,) = evaluator.aggregate([replace(answers[0], repeats=(*answers, failed))])
    assert repeated.value == once.value
    assert (repeated.n, repeated.repeats, repeated.counts["failed"]) == (3, 3, 1)


@pytest.mark.thorough
def test_the_spread_is_that_of_sacrebleu_and_always_the_same() -> None:
    texts = [(answer, gold) for answer, gold in pairs(300) if answer]
    score = corpus(BleuEvaluator(), list(texts))
    golds = columns([gold for _, gold in texts])
    reference = sacrebleu.BLEU().corpus_score([answer for answer, _ in texts], golds, n_bootstrap=1000)
    assert score.interval is not None
    assert score.value is not None
    assert (score.interval[1] - score.interval[0]) / 2 == pytest.approx(reference._ci, rel=0.15)
    assert score.stderr == pytest.approx(reference._ci / 1.96, rel=0.15)
    assert score.interval[0] < score.value < score.interval[1]
    assert corpus(BleuEvaluator(), list(texts)) == score


@pytest.mark.thorough
def test_answers_of_one_cluster_are_drawn_together() -> None:
    evaluator = BleuEvaluator()
    alone = [
        SampleScore(str(row), "scored", answer, gold, evaluator.score(answer, gold))
        for row, (answer, gold) in enumerate(pairs(20))
    ]
    copies = [score for score in alone for _ in range(4)]
    [independent] = evaluator.aggregate(copies)
    [clustered] = evaluator.aggregate([replace(score, cluster=score.sample_id) for score in copies])
    assert clustered.value == independent.value
    assert clustered.stderr == pytest.approx(2 * (independent.stderr or 0.0), rel=0.1)


def test_no_gold_is_an_error() -> None:
    with pytest.raises(DataError, match="no gold"):
        BleuEvaluator().score("text", None)


def test_it_is_an_evaluator_and_found_by_name() -> None:
    evaluator = EVALUATORS.get("BleuEvaluator")()
    assert isinstance(evaluator, Evaluator)
    assert evaluator.score("a\ud800\x00b", "a")["bleu"] == 0


@pytest.mark.parametrize(
    "gold", ["机器学习很有趣", "機械学習は楽しい", "การเรียนรู้", "ການຮຽນ", "ការរៀន", "သင်ယူ", "学习与 AI"]
)
def test_tokenizers_that_look_for_blanks_are_doubted_for_writing_without_them(gold: str) -> None:
    assert BleuEvaluator().doubt([gold])
    assert BleuEvaluator(tokenize="char").doubt([gold]) is None


@pytest.mark.parametrize("gold", ["Maschinelles Lernen", "Машинное обучение", "기계 학습", "تعلم الآلة", "42", ""])
def test_nothing_is_doubted_about_writing_with_blanks(gold: str) -> None:
    assert BleuEvaluator().doubt([gold, None]) is None
