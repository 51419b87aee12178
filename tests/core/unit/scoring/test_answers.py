"""Several answers to a question: avg@n, pass@k and cons@n, with bounds, and no failure counted as a wrong answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.checks import check_k
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.evaluators import AccEvaluator, Gsm8kEvaluator
from ais_prompt.scoring import RepeatScorer, Scorer
from ais_prompt.types import Completion, EvalSpec, Failure, Prediction, SampleScore, Score

FAILED = Completion(failure=Failure("timeout", "no answer"))


def question(*answers: str | None, number: int = 0) -> Prediction:
    """A question whose gold is A; None failed."""
    completions = tuple(FAILED if text is None else Completion(text, "stop") for text in answers)
    return Prediction(str(number), number, "?", list(answers), "A", completions)


def scorer(n: int, *k: int) -> RepeatScorer:
    one = Scorer(AccEvaluator(), lambda text: None if text == "?" else text, lambda gold: gold)
    return RepeatScorer(one, n, k)


def scores(n: int, k: Sequence[int], *questions: Prediction) -> dict[str, Score]:
    parts = scorer(n, *k)
    return {score.metric: score for score in parts.aggregate([parts.score(one) for one in questions])}


def test_each_answer_has_its_score_and_the_question_their_mean() -> None:
    result = scorer(4, 1, 2).score(question("A", "B", "A", "?"))
    assert (result.status, result.extracted, result.reason) == ("unparsed", ["A", "B", "A", None], "no answer found")
    assert [one.status for one in result.repeats] == ["scored", "scored", "scored", "unparsed"]
    # 2 of 4 are right: one of two is right unless both are wrong, 1 of 6 pairs.
    agree = {"same_text": 0.0, "same_answer": 0.0, "same_verdict": 0.0}
    passed = {"pass@1": 0.5, "pass^1": 0.5, "pass@2": pytest.approx(5 / 6), "pass^2": pytest.approx(1 / 6)}
    assert result.values == {"accuracy": 0.5, **passed, "cons@4": 1.0, **agree}


def test_the_scores_of_a_data_set() -> None:
    found = scores(2, [1, 2], question("A", "B"), question("B", "B"), question("A", "A"))
    agree = ["same_text", "same_answer", "same_verdict"]
    assert list(found) == ["accuracy", "pass@1", "pass@2", "pass^2", "cons@2", *agree]
    assert [found[name].value for name in agree] == [pytest.approx(2 / 3)] * 3
    assert found["accuracy"].value == found["pass@1"].value == 0.5
    assert (found["accuracy"].n, found["accuracy"].repeats) == (6, 2)
    assert found["pass@2"].value == pytest.approx(2 / 3)
    assert found["cons@2"].value == 0.5
    # Three questions with 1/2, 0 and 1, not six answers.
    assert found["accuracy"].stderr == pytest.approx(0.5 / 3**0.5)


def test_a_failed_answer_is_left_out() -> None:
    result = scorer(3, 2, 3).score(question("A", None, "B"))
    assert (result.status, result.reason) == ("scored", "timeout")
    assert (result.values["accuracy"], result.values["pass@2"], result.values["cons@3"]) == (0.5, 1.0, 0.5)
    found = scores(3, [3], question("A", None, "B"), question("B", "B", "B"))
    assert found["pass@3"].value == 0.5
    assert found["pass@3"].bounds == (0.5, 0.5)
    assert found["cons@3"].value == 0.25
    assert found["cons@3"].bounds == (0.0, 0.5)
    assert dict(found["pass@3"].counts) == {"scored": 5, "unparsed": 0, "truncated": 0, "failed": 1}


def test_a_question_without_any_answer_failed() -> None:
    result = scorer(2).score(question(None, None))
    assert (result.status, result.values, result.reason, len(result.repeats)) == ("failed", {}, "timeout", 2)
    found = scores(2, [], question(None, None), question("A", "A"))
    assert (found["cons@2"].value, found["cons@2"].bounds) == (1.0, (0.5, 1.0))
    assert (found["accuracy"].value, found["accuracy"].bounds) == (1.0, (0.5, 1.0))


def test_metrics_without_right_and_wrong_have_only_a_mean() -> None:
    class Length:
        metrics = ("length",)

        def score(self, extracted: str, gold: str) -> dict[str, float]:
            return {"length": float(len(extracted))}

        def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
            from ais_prompt.metrics import mean_scores

            return mean_scores(self.metrics, samples, best=None)

    parts = RepeatScorer(Scorer(Length(), lambda text: text, lambda gold: gold), 2, (2,))
    [score] = parts.aggregate([parts.score(question("AAA", "B"))])
    assert (score.metric, score.value) == ("length", 2.0)


@pytest.mark.parametrize("given", [question("A"), question("A", "B", "A"), Prediction("0", 0, "?", "A", "A", ())])
def test_every_question_has_as_many_answers(given: Prediction) -> None:
    with pytest.raises(DataError, match="and 2 to the first one") as caught:
        scorer(2).score(given)
    assert caught.value.where == "sample 0, row 0"


def test_more_tries_than_answers_cannot_be_told() -> None:
    check_k(EvalSpec(k=(1, 4)), 4)
    with pytest.raises(ConfigError, match="pass@8 needs 8 answers to each question, and there are 4") as caught:
        check_k(EvalSpec(k=(1, 8), where="datasets[0].eval_cfg"), 4)
    assert caught.value.where == "datasets[0].eval_cfg.k"


def test_the_vote_goes_by_what_the_evaluator_takes_for_the_same() -> None:
    numbers = Scorer(Gsm8kEvaluator(), lambda text: text, lambda gold: gold)
    texts = ["18", "18.0", "$18.00", "7", "7"]
    result = RepeatScorer(numbers, 5, ()).score(replace(question(*texts), gold="18"))
    assert result.values["cons@5"] == 1.0
    same = RepeatScorer(numbers, 3, ()).score(replace(question(*texts[:3]), gold="18"))
    assert [same.values[f"same_{what}"] for what in ("text", "answer", "verdict")] == [0.0, 1.0, 1.0]


answers = st.sampled_from(["A", "B", "C", "?", None])


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(answers, min_size=n, max_size=n), min_size=1, max_size=6)))
def test_answers_in_doubt_stay_within_the_bounds(table: list[list[str | None]]) -> None:
    n = len(table[0])
    found = scores(n, range(1, n + 1), *(question(*row) for row in table))
    for score in found.values():
        assert score.n == n * len(table)
        assert score.bounds is not None
        assert 0 <= score.bounds[0] <= score.bounds[1] <= 1
        if score.value is not None:
            assert score.bounds[0] <= score.value + 1e-12
            assert score.value <= score.bounds[1] + 1e-12
    if not any(None in row for row in table):
        assert found["pass@1"].value == pytest.approx(found["accuracy"].value)
        passed = [found[f"pass@{k}"].value or 0.0 for k in range(1, n + 1)]
        assert passed == sorted(passed)


class Further:
    """Scores that take the place of those with the same name."""

    def repeated(self, scores: Sequence[Score], samples: Sequence[SampleScore]) -> list[Score]:
        return [replace(scores[0], metric="cons@2", value=float(len(samples)))]


def test_further_scores_take_the_place_of_those_with_their_name() -> None:
    parts = replace(scorer(2, 1), further=Further())
    found = {one.metric: one.value for one in parts.aggregate([parts.score(question("A", "A"))])}
    assert list(found) == ["accuracy", "cons@2", "pass@1", "same_text", "same_answer", "same_verdict"]
    assert found["cons@2"] == 1.0
