"""Dialogues by turns and as a whole; a failed one is no wrong one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import DataError
from ais_prompt.evaluators import AccEvaluator, Gsm8kEvaluator
from ais_prompt.judges import LLMRatingEvaluator
from ais_prompt.postprocess import gsm8k_postprocess
from ais_prompt.scoring import DialogueScorer, Scorer
from ais_prompt.types import Completion, Failure, Prediction

FAILED = Completion(failure=Failure("timeout", "no answer"))
SCORER = DialogueScorer(Scorer(Gsm8kEvaluator(), gsm8k_postprocess, lambda gold: gold))


def dialogue(answers: list[str | None], golds: Any = None, cut: int | None = None) -> Prediction:
    """Answers of which None has failed; the answer number ``cut`` was truncated."""
    completions = [
        FAILED if answer is None else Completion(answer, "length" if number == cut else "stop")
        for number, answer in enumerate(answers)
    ]
    golds = ["1", "2", "3"][: len(answers)] if golds is None else golds
    return Prediction("s", 4, ("p",) * len(answers), answers, golds, tuple(completions))


@pytest.mark.parametrize(
    ("given", "status", "accuracy", "whole"),
    [
        (dialogue(["1", "It is 2.", "3"]), "scored", 1.0, 1.0),
        (dialogue(["1", "It is 5.", "3"]), "scored", 2 / 3, 0.0),
        (dialogue(["1", "no idea", "3"]), "unparsed", 2 / 3, 0.0),
        (dialogue(["1", "#### 2\nSo", "3"], cut=1), "truncated", 1.0, 1.0),
        (dialogue(["1", "It is 2", "3"], cut=1), "truncated", 2 / 3, 0.0),
        (dialogue(["1", "", "#### 3\nSo"], cut=2), "truncated", 2 / 3, 0.0),
    ],
)
def test_each_turn_is_scored_like_a_sample(given: Prediction, status: str, accuracy: float, whole: float) -> None:
    result = SCORER.score(given)
    assert result.status == status
    assert result.values == pytest.approx({"accuracy": accuracy, "dialogue_accuracy": whole})
    assert result.gold == ["1", "2", "3"]


def test_the_answers_of_the_turns_are_kept_apart() -> None:
    assert SCORER.score(dialogue(["It is 1.", "none", "so 3"])).extracted == ["1", None, "3"]


@pytest.mark.parametrize(("answers", "high"), [(["1", "", "#### 3\nSo"], 1.0), (["1", "5", "#### 3\nSo"], 2 / 3)])
def test_a_dialogue_of_which_a_turn_could_not_be_read_may_be_right(answers: list[str | None], high: float) -> None:
    by_turn, _ = SCORER.aggregate([SCORER.score(dialogue(answers, cut=2))])
    assert by_turn.bounds == pytest.approx((2 / 3, high))


def test_a_dialogue_that_failed_has_no_part_in_the_values() -> None:
    failed = SCORER.score(dialogue(["1", None, None]))
    assert (failed.status, failed.values) == ("failed", {})
    by_turn, whole = SCORER.aggregate([failed, SCORER.score(dialogue(["1", "7"])), SCORER.score(dialogue(["1"]))])
    assert (by_turn.metric, by_turn.value) == ("accuracy", 0.75)
    assert (whole.metric, whole.value) == ("dialogue_accuracy", 0.5)
    assert (by_turn.n, dict(by_turn.counts)) == (3, {"scored": 2, "unparsed": 0, "truncated": 0, "failed": 1})


@pytest.mark.parametrize("golds", ["1", ["1"], [["1", "2", "3"]]])
def test_there_must_be_one_gold_for_each_turn(golds: Any) -> None:
    with pytest.raises(DataError, match="not one gold for each answer") as caught:
        SCORER.score(dialogue(["1", "2", "3"], golds))
    assert caught.value.where == "sample s, row 4"


def test_ratings_of_turns_stay_points() -> None:
    scorer = DialogueScorer(Scorer(LLMRatingEvaluator(), lambda text: text, lambda gold: gold))
    by_turn, whole = scorer.aggregate([scorer.score(dialogue(given)) for given in (["8", "6"], ["10", "2"])])
    assert (by_turn.value, whole.value, by_turn.fraction, whole.fraction) == (6.5, 4.0, False, False)
    for score in (by_turn, whole):
        assert score.interval
        assert 0 <= score.interval[0] < score.interval[1] <= 10


@given(st.lists(st.sampled_from("AB"), min_size=1, max_size=6), st.data())
def test_a_whole_dialogue_is_right_if_and_only_if_every_turn_is(golds: list[str], data: st.DataObject) -> None:
    answers = data.draw(st.lists(st.sampled_from("AB"), min_size=len(golds), max_size=len(golds)))
    scorer = DialogueScorer(Scorer(AccEvaluator(), lambda text: text, lambda gold: gold))
    values = scorer.score(dialogue(list(answers), golds)).values
    assert values["dialogue_accuracy"] == (answers == golds)
    assert values["accuracy"] == pytest.approx(sum(map(str.__eq__, answers, golds)) / len(golds))
