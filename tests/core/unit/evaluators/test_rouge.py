from __future__ import annotations

import pytest

from ais_prompt.errors import DataError
from ais_prompt.evaluators import Evaluator, JiebaRougeEvaluator, RougeEvaluator
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore
from tests.core.unit.evaluators.random_text import pairs

pytestmark = pytest.mark.thorough

rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
METRICS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


@pytest.mark.parametrize("stem", [False, True])
def test_against_rouge_score(stem: bool) -> None:
    reference = rouge_scorer.RougeScorer(METRICS, use_stemmer=stem)
    evaluator = RougeEvaluator(use_stemmer=stem)
    for answer, golds in pairs(1000):
        expected = reference.score_multi(golds, answer)
        assert evaluator.score(answer, golds) == {metric: expected[metric].fmeasure for metric in METRICS}


def test_chinese_by_characters() -> None:
    # 今天天气好 in 今天天气很好: five of five and of six characters; pairs 今天, 天天, 天气 of four and of five.
    found = RougeEvaluator(tokenize="characters").score("今天天气好", "今天，天气很好。")
    assert found["rouge1"] == pytest.approx(2 * 1 * (5 / 6) / (1 + 5 / 6))
    assert found["rouge2"] == pytest.approx(2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))
    assert found["rougeL"] == found["rouge1"]


def test_words_among_characters_stay_whole() -> None:
    evaluator = RougeEvaluator(tokenize="characters")
    assert evaluator.score("用GPT4", "GPT4")["rouge1"] == pytest.approx(2 / 3)
    assert evaluator.score("GPT", "GPT4")["rouge1"] == 0.0
    assert evaluator.score("Größe", "größe")["rouge1"] == 1.0


def test_chinese_by_words() -> None:
    pytest.importorskip("jieba")
    # jieba: 机器 学习 很 有趣 against 机器 学习 有趣
    assert JiebaRougeEvaluator().score("机器学习很有趣", "机器学习有趣！")["rouge1"] == pytest.approx(6 / 7)
    for answer, golds in pairs(100, chinese=True):
        assert all(0 <= value <= 1 for value in JiebaRougeEvaluator().score(answer, golds).values())


LANGUAGES = {
    "zh": "机器学习很有趣",
    "ja": "機械学習は楽しい",
    "th": "การเรียนรู้ของเครื่อง",
    "ko": "기계 학습",
    "ru": "Машинное обучение",
    "ar": "تعلم الآلة",
    "hi": "यंत्र अधिगम",
    "el": "Μηχανική μάθηση",
}


@pytest.mark.parametrize("gold", LANGUAGES.values(), ids=LANGUAGES)
def test_the_default_tokenizer_is_doubted_for_languages_that_it_drops(gold: str) -> None:
    for golds in ([gold], [None, gold, ""], [[gold, "AI"]], [f"{gold} 2024 GPT"]):
        assert RougeEvaluator().doubt(golds)
        assert RougeEvaluator(tokenize="characters").doubt(golds) is None
        assert JiebaRougeEvaluator().doubt(golds) is None


@pytest.mark.parametrize("gold", ["Machine learning", "Naïve Größe, façade", "42", "", "a 中"])
def test_nothing_is_doubted_about_texts_that_keep_their_letters(gold: str) -> None:
    assert RougeEvaluator().doubt([gold]) is None


def test_what_cannot_be_read_and_no_gold() -> None:
    assert set(RougeEvaluator().score(None, "cat").values()) == {0.0}
    assert set(RougeEvaluator().score("\ud800\x00", "cat").values()) == {0.0}
    with pytest.raises(DataError, match="no gold"):
        RougeEvaluator().score("cat", None)


@pytest.mark.parametrize("name", ["RougeEvaluator", "JiebaRougeEvaluator"])
def test_they_are_evaluators_and_found_by_name(name: str) -> None:
    evaluator = EVALUATORS.get(name)()
    assert isinstance(evaluator, Evaluator)
    scores = evaluator.aggregate([SampleScore("a", "scored", values=dict.fromkeys(METRICS, 0.5))])
    assert [(score.metric, score.value) for score in scores] == [(metric, 0.5) for metric in METRICS]
