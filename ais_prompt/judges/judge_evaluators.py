"""Evaluators that use the verdict of a judge model: right or wrong, a rating, a win rate, or after a rule.

The judge is asked with the ``judge_cfg`` and ``prompt_template`` of the evaluator's config (`JudgeQuestions`), and the
evaluator gets its verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.evaluators import (
    AveragingEvaluator,
    ComparesAnswers,
    Evaluator,
    JudgeEvaluator,
    PanelEvaluator,
    make_evaluator,
)
from ais_prompt.judges.replies import generic_llmjudge_postprocess, judge_rating_postprocess, only_tag
from ais_prompt.metrics import Estimate, estimated_means, mean_scores
from ais_prompt.registry import EVALUATORS, POSTPROCESSORS
from ais_prompt.types import JudgeVerdict, SampleScore, Score


def majority(votes: Sequence[str | float | None]) -> str | float | None:
    """Return the vote of more than half of the judges; None if there is none. A judge without a vote counts as one.

    >>> majority(["A", "B", "A"])
    'A'
    >>> majority(["A", "B"])
    >>> majority(["A", None])
    """
    [(most, count)] = Counter(votes).most_common(1)
    return most if 2 * count > len(votes) else None


def decide(evaluator: JudgeEvaluator, panel: Sequence[JudgeVerdict], gold: Any) -> Mapping[str, float] | None:
    """Return the values of an answer that judges decide on; None if they decide nothing."""
    if isinstance(evaluator, PanelEvaluator):
        return evaluator.decide(panel, gold)
    verdict = majority([one.vote for one in panel])
    return None if verdict is None else evaluator.score(verdict, gold)


@EVALUATORS.register_module()
class GenericLLMEvaluator(AveragingEvaluator):
    """Accuracy by a judge: 1 where it says ``true_tag``, 0 where it says ``false_tag``.

    Source: OpenCompass, ``GenericLLMEvaluator``, where a judge that says neither makes the answer wrong.

    Args:
        true_tag, false_tag: what the prompt tells the judge to say.
        verdict_postprocessor: finds the tag in the text of the judge; None takes `generic_llmjudge_postprocess`.
    """

    metrics: tuple[str, ...] = ("accuracy",)

    def __init__(
        self,
        true_tag: str = "A",
        false_tag: str = "B",
        verdict_postprocessor: Mapping[str, Any] | None = None,
    ) -> None:
        self.true_tag = true_tag
        default = partial(generic_llmjudge_postprocess, true_tag=true_tag, false_tag=false_tag)
        self._verdict = make_postprocessor(verdict_postprocessor) or default

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # the judge has seen the gold
        """Return ``accuracy`` of a verdict, 0 or 1."""
        return {"accuracy": float(extracted == self.true_tag)}

    def without_judge(self, extracted: Any, gold: Any) -> None:
        """Return None: the judge is always asked."""

    def verdict(self, text: str) -> str | None:
        """Return the tag."""
        found: str | None = self._verdict(text)
        return found


@EVALUATORS.register_module()
class LLMRatingEvaluator:
    """The mean rating by a judge, as MT-Bench has it: ``rating`` in points.

    The rating of several judges is the mean of theirs, if more than half of them give one.

    Args:
        worst, best: the range of ratings that the prompt allows; others are no verdict.
    """

    metrics: tuple[str, ...] = ("rating",)
    compares: Final = False

    def __init__(self, worst: float = 1, best: float = 10) -> None:
        self.worst = worst
        self.best = best

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # the judge has seen the gold
        """Return ``rating`` of a verdict."""
        return {"rating": float(extracted)}

    def without_judge(self, extracted: Any, gold: Any) -> None:
        """Return None: the judge is always asked."""

    def verdict(self, text: str) -> str | None:
        """Return the rating if the prompt allows it; else None."""
        rating: str | None = judge_rating_postprocess(text)
        return rating if rating is not None and self.worst <= float(rating) <= self.best else None

    def vote(self, verdicts: Sequence[str | None]) -> float | None:
        """Return the rating of one judge as a number."""
        [rating] = verdicts
        return None if rating is None else float(rating)

    def decide(self, panel: Sequence[JudgeVerdict], gold: Any) -> Mapping[str, float] | None:
        """Return the mean rating; None if not more than half of the judges gave one."""
        ratings = [float(one.vote) for one in panel if one.vote is not None]
        return self.score(fmean(ratings), gold) if 2 * len(ratings) > len(panel) else None

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the judged samples."""
        return mean_scores(self.metrics, scores, best=self.best, worst=self.worst)


def make_postprocessor(config: Mapping[str, Any] | None) -> Callable[[str], Any] | None:
    """Return the function that a config names, with its options bound; None for None."""
    if config is None:
        return None
    arguments = {key: value for key, value in config.items() if key != "type"}
    return POSTPROCESSORS.function(config["type"], arguments)


OrderChange: TypeAlias = Literal["tie", "mean", "undecided"]
"""What a verdict is that changes with the order of the answers."""
FIRST: Final = "first"
SECOND: Final = "second"
TIE: Final = "tie"
ORDER_CHANGED: Final = "order_changed"
_POINTS: Final = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}


@EVALUATORS.register_module()
class PairwiseEvaluator:
    """Win rate against reference answers by a judge, who is asked about each pair of answers in both orders.

    ``{prediction}`` is the answer that the judge sees first, ``{prediction2}`` the second one. A win counts 1, a tie
    0.5 and a loss 0; ``wins`` and ``ties`` are their shares, the rest are losses. An empty answer is a loss.
    ``order_changed`` is the share of verdicts that changed with the order: the position bias of the judge. A question
    with an order without a verdict fails; it is no loss.

    The turns of a dialogue are compared one by one. ``{conversation}`` is what was said before ``{prediction}``, and
    ``{conversation2}`` what was said before ``{prediction2}``.

    The config gives the judges, their prompt and the other answers beside the arguments: ``judge_cfg``,
    ``prompt_template`` and ``baseline``, a column, a model of the run, or an earlier run.

    Several judges decide by majority; with ``order_change="mean"`` the mean of their points counts.

    Source: Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", section 3.4 (a win is a win in
    both orders).

    Args:
        first, second, tie: what the prompt tells the judge to say, each a text or a list of texts with one meaning:
            ``first=["A>>B", "A>B"]``.
        order_change: what a verdict is that changes with the order: a ``"tie"``; the ``"mean"`` of both, as in
            Arena-Hard; or ``"undecided"``, which leaves the question out as failed.
        verdict_postprocessor: finds one of these texts in the answer of the judge.

    Raises:
        ConfigError: ``order_change`` is another word, or a text has two meanings.
    """

    metrics: tuple[str, ...] = ("win_rate", "wins", "ties", ORDER_CHANGED)
    compares: Final = True

    def __init__(
        self,
        first: str | Sequence[str] = "A",
        second: str | Sequence[str] = "B",
        tie: str | Sequence[str] = "C",
        order_change: OrderChange = "tie",
        verdict_postprocessor: Mapping[str, Any] | None = None,
    ) -> None:
        if order_change not in get_args(OrderChange):
            fix = "write one of 'tie', 'mean', 'undecided'"
            raise ConfigError(f"order_change is {order_change!r:.60}", where="order_change", fix=fix)
        self.order_change = order_change
        self._meanings: dict[str, str] = {}
        for meaning, texts in ((FIRST, first), (SECOND, second), (TIE, tie)):
            for text in [texts] if isinstance(texts, str) else texts:
                if self._meanings.setdefault(text, meaning) != meaning:
                    what = f"{text!r} means {self._meanings[text]!r} and {meaning!r}"
                    raise ConfigError(what, where=meaning, fix="give each meaning texts of its own")
        self._tag = make_postprocessor(verdict_postprocessor)

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002  # the judge has seen the gold
        """Return the values of a vote: 1 for a win, 0.5 for a tie, 0 for a loss, or a mean of these."""
        points = float(extracted)
        return {
            "win_rate": points,
            "wins": float(points > 0.5),
            "ties": float(points == 0.5),
        }

    def without_judge(self, extracted: Any, gold: Any) -> None:
        """Return None: the judge is always asked."""

    def verdict(self, text: str) -> str | None:
        """Return ``first``, ``second`` or ``tie``; None if the judge says none of them."""
        tag = only_tag(text, tuple(self._meanings)) if self._tag is None else self._tag(text)
        return None if tag is None else self._meanings.get(str(tag))

    def vote(self, verdicts: Sequence[str | None]) -> float | None:
        """Return the points of the model from the verdicts in both orders; None if it is undecided.

        Args:
            verdicts: with the answer of the model first, then with the reference answer first.
        """
        as_first, as_second = verdicts
        if as_first is None or as_second is None:
            return None
        points = _POINTS[as_first], 1 - _POINTS[as_second]
        if points[0] == points[1] or self.order_change == "mean":
            return fmean(points)
        return 0.5 if self.order_change == "tie" else None

    def decide(self, panel: Sequence[JudgeVerdict], gold: Any) -> Mapping[str, float] | None:
        """Return the values of a question from the votes of all judges; None if they decide nothing."""
        votes = [one.vote for one in panel]
        if self.order_change == "mean":
            known = [float(vote) for vote in votes if vote is not None]
            points: str | float | None = fmean(known) if 2 * len(known) > len(votes) else None
        else:
            points = majority(votes)
        if points is None:
            return None
        return {**self.score(points, gold), ORDER_CHANGED: fmean(_changed(panel))}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the means; the two orders of a question are one unit, and bias is that of judged answers."""
        shares = mean_scores(self.metrics[:-1], scores)
        return shares + estimated_means((ORDER_CHANGED,), lambda score: [_order_changed(score)], scores)


def _order_changed(score: SampleScore) -> Estimate:
    """Return how often the order changed the verdict on a question; an answer that was not judged does not count."""
    answers = score.repeats or (score,)
    # An answer that is undecided because the order changed the verdict has failed, and has no values.
    known = [fmean(each) for each in (_changed(one.verdicts) for one in answers) if each]
    changed = sum(known)
    least, most = changed / len(answers), (changed + len(answers) - len(known)) / len(answers)
    return Estimate(changed / len(known) if known else None, least, most)


def _changed(panel: Sequence[JudgeVerdict]) -> list[float]:
    """Return 1 for each judge whose verdict depends on the order, and 0 for others that gave both verdicts."""
    return [float(_changes(*one.orders)) for one in panel if one.orders and None not in one.orders]


def _changes(as_first: str | None, as_second: str | None) -> bool:
    """Return whether the verdict depends on which answer comes first."""
    return as_first != {FIRST: SECOND, SECOND: FIRST}.get(as_second or "", as_second)


@EVALUATORS.register_module()
class CascadeEvaluator:
    """Accuracy by a rule, and by a judge for answers that the rule finds wrong.

    ``rule_accuracy`` is what the rule alone would give. Source: OpenCompass, ``CascadeEvaluator`` with
    ``parallel=False``.

    Args:
        rule_evaluator: an evaluator whose first metric is 1 for a right answer.
        llm_evaluator: a `GenericLLMEvaluator`, with its ``judge_cfg`` and ``prompt_template``.
        rule_postprocessor: takes the answer for the rule out of the text; the judge sees the text.

    Raises:
        ConfigError: they are not of these kinds.
    """

    metrics: tuple[str, ...] = ("accuracy", "rule_accuracy")

    def __init__(
        self,
        rule_evaluator: Mapping[str, Any],
        llm_evaluator: Mapping[str, Any],
        rule_postprocessor: Mapping[str, Any] | None = None,
    ) -> None:
        self._rule = _build(rule_evaluator)
        self._rule_answer = make_postprocessor(rule_postprocessor)
        judge = _build(llm_evaluator)
        if isinstance(self._rule, JudgeEvaluator) or not isinstance(judge, JudgeEvaluator):
            raise ConfigError(
                "rule_evaluator must not ask a judge, and llm_evaluator must ask one",
                fix="e.g. AccEvaluator for rule_evaluator, GenericLLMEvaluator for llm_evaluator",
            )
        if judge.metrics[0] != "accuracy":
            raise ConfigError(
                f"llm_evaluator gives {judge.metrics[0]}, which cannot be put together with the rule's accuracy",
                fix="use GenericLLMEvaluator",
            )
        self._judge = judge

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the values of a verdict; an answer that the rule finds right is not judged."""
        return {"accuracy": self._judge.score(extracted, gold)["accuracy"], "rule_accuracy": 0.0}

    def without_judge(self, extracted: Any, gold: Any) -> Mapping[str, float] | None:
        """Return the values of an answer that the rule finds right; None for others.

        Raises:
            DataError: the gold cannot be used.
        """
        answer = extracted if self._rule_answer is None else self._rule_answer(extracted)
        right = answer is not None and self._rule.score(answer, gold)[self._rule.metrics[0]] == 1.0
        return dict.fromkeys(self.metrics, 1.0) if right else None

    def same_answer(self, first: Any, second: Any) -> bool:
        """Return whether two answers are the same to the rule."""
        return first == second or (isinstance(self._rule, ComparesAnswers) and self._rule.same_answer(first, second))

    def verdict(self, text: str) -> str | None:
        """Return the verdict of the judge."""
        return self._judge.verdict(text)

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the means over the samples that the rule or the judge scored, and over those that the rule scored."""
        return mean_scores(self.metrics[:1], scores) + mean_scores(self.metrics[1:], map(_by_rule, scores))


def _by_rule(score: SampleScore) -> SampleScore:
    """Return the score by the rule alone: an answer about which a judge is asked is wrong, whatever the judge says."""
    if score.repeats:
        return replace(score, repeats=tuple(map(_by_rule, score.repeats)))
    if score.status == "failed" and score.reason.startswith("judge"):
        return replace(score, status="scored", values={"rule_accuracy": 0.0})
    return score


def _build(config: Mapping[str, Any]) -> Evaluator:
    arguments = {key: value for key, value in config.items() if key != "type"}
    return make_evaluator(config["type"], arguments)
