"""One answer becomes one score by what judges said: whose verdict counts, and why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ais_prompt.errors import GoldError, PartError
from ais_prompt.judges import (
    FIRST,
    SECOND,
    CascadeEvaluator,
    GenericLLMEvaluator,
    LLMRatingEvaluator,
    PairwiseEvaluator,
    Replies,
)
from ais_prompt.scoring import Scorer
from ais_prompt.scoring.scorer import JudgedScorer
from ais_prompt.types import Completion, Failure, GeneratedToken, JudgeVerdict, Prediction, SampleScore

ANSWER = Prediction("a", 3, (), "18", "18", (Completion("18"),))
FAILED = Completion(failure=Failure("timeout", "no reply"))


def same(value: Any) -> Any:
    return value


def said(text: str, **completion: Any) -> Prediction:
    return Prediction("a", 3, (), text, None, (Completion(text, **completion),))


def lost() -> Prediction:
    return Prediction("a", 3, (), "", None, (FAILED,))


def judged(evaluator: Any, *replies: Replies, answer: Prediction = ANSWER) -> SampleScore:
    reader = Scorer(evaluator, same, same).without_comparison(evaluator.metrics)
    return JudgedScorer(evaluator, reader, lambda *_: replies).score(answer)


def replies_of(*texts: str | Prediction) -> list[Replies]:
    replies = [said(text) if isinstance(text, str) else text for text in texts]
    return [Replies(f"judge{number}", [reply]) for number, reply in enumerate(replies)]


@pytest.mark.parametrize(("texts", "value"), [(["A"], 1.0), (["B"], 0.0), (["A", "B", "A"], 1.0), (["B", "B"], 0.0)])
def test_the_verdict_of_more_than_half_of_the_judges_counts(texts: list[str], value: float) -> None:
    score = judged(GenericLLMEvaluator(), *replies_of(*texts))
    assert (score.status, score.values) == ("scored", {"accuracy": value})
    # The verdict of a single judge is the value itself, and is not kept twice.
    expected = [JudgeVerdict(f"judge{number}", text) for number, text in enumerate(texts)] if len(texts) > 1 else []
    assert list(score.verdicts) == expected


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([], "judge not_judged"),
        ([lost()], "judge timeout"),
        ([said("perhaps")], "judge without verdict"),
        ([said("perhaps", finish_reason="length")], "judge cut at max_out_len"),
        ([said("A"), said("perhaps"), said("B")], "judge without verdict"),
        ([said("A", finish_reason="length"), said("B")], "judges undecided"),
        ([said("A"), lost(), said("perhaps")], "judge timeout"),
        ([said("A"), said("B")], "judges undecided"),
    ],
)
def test_without_a_verdict_a_sample_fails_and_says_why(replies: list[Prediction], reason: str) -> None:
    score = judged(GenericLLMEvaluator(), *replies_of(*replies))
    assert (score.status, score.values, score.reason) == ("failed", {}, reason)


def test_a_pair_is_judged_in_both_orders_and_kept() -> None:
    evaluator = PairwiseEvaluator()
    score = judged(evaluator, Replies("judge", [said("[[A]]"), said("[[B]]")]))
    assert score.values["win_rate"] == 1.0
    assert score.verdicts == (JudgeVerdict("judge", evaluator.vote((FIRST, SECOND)), (FIRST, SECOND)),)
    undecided = judged(PairwiseEvaluator(order_change="undecided"), Replies("judge", [said("[[A]]"), said("[[A]]")]))
    assert (undecided.status, undecided.values, undecided.reason) == ("failed", {}, "judges undecided")
    half = judged(evaluator, Replies("judge", [said("[[A]]"), lost()]))
    assert (half.status, half.reason) == ("failed", "judge timeout")


def test_each_rival_counts_the_same_and_one_without_verdict_does_not() -> None:
    won, lost_to = [said("[[A]]"), said("[[B]]")], [said("[[B]]"), said("[[A]]")]
    evaluator = PairwiseEvaluator()
    rivals = [Replies("judge", won, "x"), Replies("judge", lost_to, "y"), Replies("judge", [lost(), lost()], "z")]
    assert judged(evaluator, *rivals).values["win_rate"] == 0.5
    assert judged(evaluator, *rivals[1:]).values["win_rate"] == 0.0
    assert judged(evaluator, *rivals[2:]).reason == "judge timeout"


def test_an_answer_that_needs_no_judge_is_scored_without_one() -> None:
    cascade = CascadeEvaluator({"type": "AccEvaluator"}, {"type": "GenericLLMEvaluator"})
    assert judged(cascade).values == {"accuracy": 1.0, "rule_accuracy": 1.0}
    other = Prediction("a", 3, (), "19", "18", (Completion("19"),))
    assert judged(cascade, answer=other).reason == "judge not_judged"
    assert judged(cascade, *replies_of("A"), answer=other).values == {"accuracy": 1.0, "rule_accuracy": 0.0}


def test_an_answer_that_was_not_read_is_not_judged() -> None:
    failed = Prediction("a", 3, (), "", "18", (FAILED,))
    assert judged(GenericLLMEvaluator(), *replies_of("A"), answer=failed).reason == "timeout"


class OfTokens(GenericLLMEvaluator):
    """Takes the likeliest alternative of the last token for the verdict."""

    top_logprobs: int | None = 2

    def verdict_of_tokens(self, text: str, tokens: Sequence[GeneratedToken]) -> str | None:
        return (max(tokens[-1].alternatives, key=tokens[-1].alternatives.__getitem__) or None) if tokens else None


def test_a_verdict_may_be_read_from_the_likelihood_of_tokens() -> None:
    tokens = (GeneratedToken("A", -2.0, {"A": -2.0, "B": -0.1}),)
    assert judged(OfTokens(), *replies_of(said("A", tokens=tokens))).values == {"accuracy": 0.0}
    assert judged(OfTokens(), *replies_of("A")).reason == "judge gave no log-probabilities"
    unlikely = (GeneratedToken("A", -2.0, {"": 0.0}),)
    assert judged(OfTokens(), *replies_of(said("A", tokens=unlikely))).reason == "judge without verdict"
    of_text = OfTokens()
    of_text.top_logprobs = None
    assert judged(of_text, *replies_of("A")).values == {"accuracy": 1.0}
    assert judged(of_text, *replies_of("perhaps")).reason == "judge without verdict"


class WithoutValue(LLMRatingEvaluator):
    metrics = ("rating", "style")

    def without_judge(self, extracted: Any, gold: Any) -> Any:
        return {"rating": 1.0} if extracted == "18" else None


@pytest.mark.parametrize("text", ["18", "other"])
def test_an_evaluator_that_leaves_a_metric_out_is_named_with_its_line(text: str) -> None:
    answer = Prediction("a", 3, (), text, "18", (Completion(text),))
    with pytest.raises(PartError, match="WithoutValue gives no 'style'") as raised:
        judged(WithoutValue(), *replies_of("[[7]]"), answer=answer)
    line = WithoutValue.without_judge.__code__.co_firstlineno
    assert raised.value.where.endswith(f"test_judged_answers.py:{line}")


class OddGold(GenericLLMEvaluator):
    def without_judge(self, extracted: Any, gold: Any) -> None:
        raise ValueError("odd gold") if gold == "18" else GoldError("no gold")


def test_an_error_is_about_its_sample() -> None:
    with pytest.raises(PartError, match="ValueError: odd gold") as raised:
        judged(OddGold())
    assert raised.value.where == "sample a, row 3"
    with pytest.raises(GoldError, match="no gold") as no_gold:
        judged(OddGold(), answer=Prediction("a", 3, (), "18", None, (Completion("18"),)))
    assert no_gold.value.where == "sample a, row 3"
