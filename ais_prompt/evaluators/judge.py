"""Evaluators that use the verdict of a judge model.

`ais_prompt.scoring.judges.ask` asks the judge, with the ``judge_cfg`` and ``prompt_template`` of the evaluator's
config, and passes the verdict to the evaluator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any, Final, Protocol, runtime_checkable

from ais_prompt.evaluators.base import Evaluator
from ais_prompt.metrics.aggregate import mean_scores
from ais_prompt.registry import EVALUATORS, POSTPROCESSORS
from ais_prompt.types import JudgeVerdict, SampleScore, Score


@runtime_checkable
class JudgeEvaluator(Evaluator, Protocol):
    """An evaluator that needs the verdict of a judge. Its `score` is given the verdict in place of the answer."""

    def without_judge(self, extracted: Any, gold: Any) -> Mapping[str, float] | None:
        """Return the values of an answer that needs no judge; None if the judge has to be asked.

        Raises:
            DataError: the gold cannot be used.
        """

    def verdict(self, text: str) -> str | None:
        """Return the verdict in the text of a judge; None if there is none."""


@runtime_checkable
class PanelEvaluator(JudgeEvaluator, Protocol):
    """A `JudgeEvaluator` that has its own rule for the verdicts of several judges, or of one about two orders.

    Others take the verdict of more than half of the judges (`majority`).

    Attributes:
        compares: whether it compares the answer with that of a baseline, in both orders.
    """

    compares: bool

    def vote(self, verdicts: Sequence[str | None]) -> str | float | None:
        """Return the vote of one judge; None if it has none.

        Args:
            verdicts: one, or with ``compares`` one for each order of the two answers.
        """

    def decide(self, panel: Sequence[JudgeVerdict], gold: Any) -> Mapping[str, float] | None:
        """Return the values of a sample from the votes of all judges; None if they decide nothing."""


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
class GenericLLMEvaluator:
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
        # Its patterns take milliseconds to compile, and few runs have a judge.
        from ais_prompt.postprocess.judge import generic_llmjudge_postprocess

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

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over the judged samples."""
        return mean_scores(self.metrics, scores)


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
        from ais_prompt.postprocess.judge import judge_rating_postprocess

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
