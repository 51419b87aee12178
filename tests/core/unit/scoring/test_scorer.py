"""One answer becomes one score: its status, its reason, and the errors of its parts."""

from __future__ import annotations

from typing import Any

import pytest

from ais_prompt.errors import AisPromptError, DataError, GoldError, PartError
from ais_prompt.evaluators import AccEvaluator, SquadEvaluator
from ais_prompt.scoring import CUT, NO_TEXT, NOTHING_FOUND, UNCLOSED, Scorer, composed, read_answer
from ais_prompt.types import REFUSAL, Completion, Extraction, Prediction, Score

TRUNCATED = {"finish_reason": "length"}


def prediction(text: str, gold: Any = "18", **completion: Any) -> Prediction:
    return Prediction("a", 3, (), text, gold, (Completion(text, **completion),))


def digits(text: str) -> str | None:
    """The first digits of a text, with the place where they were found."""
    found = "".join(filter(str.isdigit, text))
    return Extraction(found, "digits", 0, len(found)) if found else None


def same(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    ("text", "completion", "status", "reason", "value"),
    [
        ("18", {}, "scored", "", 1.0),
        ("18", {"refused": True}, "scored", REFUSAL, 1.0),
        ("18", TRUNCATED, "truncated", CUT, 1.0),
        ("none", {}, "unparsed", NOTHING_FOUND, 0.0),
        ("none", {"refused": True}, "unparsed", REFUSAL, 0.0),
        ("none", TRUNCATED, "truncated", CUT, 0.0),
        (" ", {}, "unparsed", NO_TEXT, 0.0),
        ("", {"refused": True}, "unparsed", REFUSAL, 0.0),
        ("", {"unclosed": True}, "unparsed", UNCLOSED, 0.0),
        ("", TRUNCATED, "truncated", CUT, 0.0),
        ("", {"unclosed": True, **TRUNCATED}, "truncated", UNCLOSED, 0.0),
    ],
)
def test_status_and_reason(text: str, completion: dict[str, Any], status: str, reason: str, value: float) -> None:
    scored = Scorer(AccEvaluator(), digits, same).score(prediction(text, **completion))
    assert (scored.status, scored.reason, scored.values) == (status, reason, {"accuracy": value})
    assert [reading.rule for reading in scored.readings] == ["digits"] * (text == "18")


@pytest.mark.parametrize("interrupted", [{"refused": True}, {"unclosed": True}, TRUNCATED])
def test_silence_is_right_only_if_the_model_meant_it(interrupted: dict[str, Any]) -> None:
    scorer = Scorer(SquadEvaluator(), same, same)
    assert scorer.score(prediction("", [])).values["exact_match"] == 1.0
    assert scorer.score(prediction("", [], **interrupted)).values["exact_match"] == 0.0
    assert scorer.score(prediction("", ["18"])).values["exact_match"] == 0.0


class Raises:
    metrics = ("accuracy",)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def score(self, extracted: Any, gold: Any) -> dict[str, float]:
        raise self.error

    def aggregate(self, scores: Any) -> list[Score]:
        return []


@pytest.mark.parametrize(
    ("error", "kind", "where"),
    [
        (DataError("odd"), GoldError, "sample a, row 3"),
        (DataError("odd", where="a.py:7"), GoldError, "a.py:7"),
        (GoldError("odd", where="a.py:7"), GoldError, "a.py:7"),
        (PartError("odd"), PartError, "sample a, row 3"),
        (PartError("odd", where="a.py:7"), PartError, "a.py:7"),
        (OverflowError("odd"), PartError, "sample a, row 3"),
    ],
)
def test_an_error_keeps_its_place_or_gets_that_of_the_sample(error: Exception, kind: type, where: str) -> None:
    with pytest.raises(AisPromptError, match="odd") as raised:
        Scorer(Raises(error), same, same).score(prediction("18"))
    assert (type(raised.value), raised.value.where) == (kind, where)


@pytest.mark.parametrize(
    ("error", "kind", "where"),
    [
        (PartError("odd", where="a.py:7"), PartError, "a.py:7"),
        (DataError("odd"), GoldError, "sample a, row 3"),
        (DataError("odd", where="a.py:7"), GoldError, "a.py:7"),
        (OverflowError("odd"), GoldError, "sample a, row 3"),
    ],
)
def test_an_error_of_the_gold_keeps_its_place_too(error: Exception, kind: type, where: str) -> None:
    def raises(gold: Any) -> Any:
        raise error

    with pytest.raises(AisPromptError, match="odd") as raised:
        Scorer(AccEvaluator(), same, raises).score(prediction("18"))
    assert (type(raised.value), raised.value.where) == (kind, where)


@pytest.mark.parametrize("text", ["18", "none"])
def test_a_gold_that_cannot_be_used_fails_the_sample_whatever_was_said(text: str) -> None:
    with pytest.raises(GoldError) as raised:
        Scorer(AccEvaluator(), digits, same).score(prediction(text, None))
    assert raised.value.where == "sample a, row 3"


def test_several_answers_to_one_question_are_refused() -> None:
    with pytest.raises(DataError, match="several answers to this question, and one to the first"):
        Scorer(AccEvaluator(), same, same).score(Prediction("a", 3, (), ["1", "2"], "1", (Completion("1"),)))


def test_a_postprocessor_gets_what_it_asks_for() -> None:
    def with_both(text: str, sample_choices: str = "", cut: bool = False) -> tuple[str, str, bool]:
        return text, sample_choices, cut

    def with_choices(text: str, *, sample_choices: str = "") -> tuple[str, str]:
        return text, sample_choices

    choices = {"choices": "one\ntwo", "question": "which?"}
    assert read_answer(with_both, "a", choices, cut=True) == ("a", "one\ntwo", True)
    assert read_answer(with_both, "a", {"question": "which?"}) == ("a", "", False)
    assert read_answer(with_choices, "a", choices, cut=True) == ("a", "one\ntwo")
    assert read_answer(same, "a", choices, cut=True) == "a"
    # A function in C may have no signature that Python knows.
    assert read_answer(int, "18", choices, cut=True) == 18


def test_texts_are_compared_in_one_form_of_unicode_without_marks_of_the_byte_order() -> None:
    assert composed({"\ufeffe\u0301": ("e\u0301\ufeff", 1)}) == {"é": ["é", 1]}
