"""Score an answer with the verdict of a judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import PartError
from ais_prompt.evaluators.judge import JudgeEvaluator
from ais_prompt.scoring.scorer import Scorer, failure_kind
from ais_prompt.types import Prediction, SampleScore, Score
from ais_prompt.utils.places import defined_at

JudgementOf: TypeAlias = Callable[[SampleScore], Prediction]
"""What a judge said about an answer that was read; the sample's ``extracted`` and ``gold`` are what it is shown."""


class JudgedScorer(Struct, frozen=True):
    """Score an answer by a rule where that is conclusive, and by the verdict of a judge otherwise.

    A sample without a verdict failed, which is not the model's fault; its reason begins with "judge".

    Attributes:
        reader: finds answer and gold, and the status of a sample; it does not compare.
        evaluator: makes values of verdicts.
        judgement_of: what the judge said.
    """

    reader: Scorer
    evaluator: JudgeEvaluator
    judgement_of: JudgementOf

    @classmethod
    def of(cls, scorer: Scorer, evaluator: JudgeEvaluator, judgement_of: JudgementOf) -> JudgedScorer:
        """Return the scorer of a dataset in which a judge replaces the comparison."""
        return cls(replace(scorer, evaluator=_NoComparison(evaluator.metrics)), evaluator, judgement_of)

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one sample.

        Raises:
            GoldError, PartError: as `Scorer.score`.
        """
        sample = self.reader.score(prediction)
        if not sample.is_read:
            return sample
        known = self.evaluator.without_judge(sample.extracted, sample.gold)
        return self._judged(sample) if known is None else replace(sample, values=self._complete(known))

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of a sample that does not count in the value."""
        return self.reader.failed(prediction, reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the dataset."""
        return self.evaluator.aggregate(samples)

    def _complete(self, values: Mapping[str, float]) -> dict[str, float]:
        for metric in self.evaluator.metrics:
            if metric not in values:
                where = defined_at(self.evaluator, "without_judge")
                raise PartError(f"{type(self.evaluator).__name__} gives no {metric!r}", where=where)
        return dict(values)

    def _judged(self, sample: SampleScore) -> SampleScore:
        judgement = self.judgement_of(sample)
        if judgement.failed:
            return _unjudged(sample, failure_kind(judgement))
        verdict = self.evaluator.verdict(judgement.prediction)
        if verdict is None:
            return _unjudged(sample, "cut at max_out_len" if judgement.truncated else "without verdict")
        return replace(sample, values=self._complete(self.evaluator.score(verdict, sample.gold)))


def _unjudged(sample: SampleScore, reason: str) -> SampleScore:
    return replace(sample, status="failed", values={}, reason=f"judge {reason}")


class _NoComparison(Struct):
    """Stand-in for an evaluator where the judge compares."""

    metrics: tuple[str, ...]

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002
        return {}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:  # noqa: ARG002
        return []
