"""Evaluators of the user's own: functions, classes that leave things out, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import ConfigError, PartError
from ais_prompt.evaluators import ComparesAnswers, CorpusEvaluator, JudgeEvaluator, make_evaluator
from ais_prompt.scoring import Scorer
from ais_prompt.types import STATUSES, Completion, Prediction, SampleScore, Score


def right(prediction: str, gold: str, ignore_case: bool = False) -> bool:
    return prediction.lower() == gold.lower() if ignore_case else prediction == gold


def two(prediction: str, gold: str) -> dict[str, float]:
    return {"length": len(prediction), "same": prediction == gold}


def text(prediction: str, gold: str) -> str:
    return "A"


class Plain:
    metrics: Any = ("accuracy",)

    def score(self, extracted: Any, gold: Any) -> float:
        return float(extracted == gold)

    def same_answer(self, first: str, second: str) -> Any:
        return first.lower() == second.lower() or "perhaps"


class Forgetful(Plain):
    def score(self, extracted: Any, gold: Any) -> Any:
        return {"other": 1.0}


class WholeLists:
    def score(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        return {"accuracy": 1.0}


class Nameless(Plain):
    metrics: Any = (3,)


def made(name: str, **args: Any) -> Any:
    return make_evaluator(f"{__name__}.{name}", args)


def samples(evaluator: Any, *pairs: tuple[str, str]) -> list[SampleScore]:
    scored = [SampleScore("1", "scored", a, gold, dict(evaluator.score(a, gold))) for a, gold in pairs]
    return [*scored, SampleScore("2", "failed")]


def test_a_function_is_an_evaluator_and_its_metric_has_its_name() -> None:
    evaluator = made("right", ignore_case=True)
    [score] = evaluator.aggregate(samples(evaluator, ("a", "A"), ("b", "C")))
    assert (score.metric, score.value, score.counts["failed"]) == ("right", 0.5, 1)
    assert score.fraction


def test_a_metric_with_values_beyond_one_is_no_fraction_and_the_others_are() -> None:
    evaluator = made("two")
    scores = evaluator.aggregate(samples(evaluator, ("abc", "abc"), ("a", "b")))
    assert [(score.metric, score.value, score.fraction) for score in scores] == [
        ("length", 2.0, False),
        ("same", 0.5, True),
    ]


def test_a_class_may_leave_aggregate_out() -> None:
    evaluator = made("Plain")
    assert evaluator.metrics == ("accuracy",)
    assert evaluator.aggregate(samples(evaluator, ("a", "a")))[0].value == 1.0
    assert not isinstance(evaluator, JudgeEvaluator | CorpusEvaluator)


def test_what_else_a_class_can_do_is_kept_and_checked() -> None:
    evaluator = made("Plain")
    assert isinstance(evaluator, ComparesAnswers)
    assert evaluator.same_answer("a", "A")
    with pytest.raises(PartError, match=r"same_answer gives .* 'perhaps' \(str\), not bool"):
        evaluator.same_answer("a", "b")


@pytest.mark.parametrize(
    ("name", "what"), [("text", "which is no number"), ("Forgetful", "score gives no 'accuracy' but 'other'")]
)
def test_a_score_of_the_wrong_type_names_the_line(name: str, what: str) -> None:
    with pytest.raises(PartError, match=what) as caught:
        made(name).score("a", "b")
    assert "test_own.py:" in caught.value.where


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (f"{__name__}.WholeLists", "scores all predictions at once"),
        (f"{__name__}.Nameless", "not a tuple of names"),
        ("ais_prompt.models.ScriptedModel", "is no Evaluator"),
        ("collections.OrderedDict", "has no score"),
        ("os.path", "is a module, not a class"),
        ("os.sep", "is a str, not a class"),
        ("abc.ABC", "has no score"),
        ("collections.abc.Sized", "cannot be made: TypeError"),
    ],
)
def test_what_is_no_evaluator_is_refused(kind: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        make_evaluator(kind, {})


class Distance:
    metrics = ("gap", "errors")
    lower_is_better: Any = ("gap",)

    def score(self, extracted: Any, gold: Any) -> dict[str, float]:
        return {"gap": abs(len(extracted) - len(gold)), "errors": 0.5}


class Counted(Distance):
    def aggregate(self, scores: list[SampleScore]) -> list[Score]:
        return [Score(name, 1.0, None, 1, dict.fromkeys(STATUSES, 0)) for name in self.metrics]


def word_error_rate(prediction: str, gold: str) -> float:
    return float(prediction != gold)


@pytest.mark.parametrize(
    ("name", "directions"),
    [
        ("word_error_rate", {"word_error_rate": True}),
        ("right", {"right": False}),
        ("Distance", {"gap": True, "errors": False}),
        ("Counted", {"gap": True, "errors": False}),
    ],
)
def test_an_evaluator_says_of_which_metrics_less_is_better(name: str, directions: dict[str, bool]) -> None:
    evaluator = made(name)
    found = evaluator.aggregate(samples(evaluator, ("a", "b"), ("bb", "b")))
    assert {score.metric: score.lower_is_better for score in found} == directions


def test_an_unread_answer_is_all_wrong_in_an_error_rate() -> None:
    scorer = Scorer(made("word_error_rate"), lambda text: text, lambda gold: gold)
    unread = [scorer.score(Prediction("1", 0, "p", text, "a", (Completion(text, "stop"),))) for text in ("a", "")]
    assert [one.status for one in unread] == ["scored", "unparsed"]
    [score] = scorer.aggregate([*unread, SampleScore("3", "failed")])
    assert (score.value, score.bounds) == (0.5, (0.0, pytest.approx(2 / 3)))
