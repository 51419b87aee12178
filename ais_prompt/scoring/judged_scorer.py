"""Score answers with the verdicts of judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import PartError
from ais_prompt.evaluators import AsksInParts, JudgeEvaluator, PanelEvaluator, ReadsTokens
from ais_prompt.metrics import exact_mean
from ais_prompt.parts import defined_at
from ais_prompt.scoring.scorer import Scorer, failure_kind, place_of, scoring
from ais_prompt.types import JudgeVerdict, Prediction, SampleScore, Score

if TYPE_CHECKING:
    from ais_prompt.judges import Replies

JudgementOf: TypeAlias = "Callable[[SampleScore, Prediction], Sequence[Replies]]"
"""What judges said about an answer that was read; the sample's ``extracted`` and ``gold`` are what they are shown, and
the prompt of a turn of a dialogue."""


class JudgedScorer(Struct, frozen=True):
    """Score an answer by a rule where that is conclusive, and by the verdict of a judge otherwise.

    A sample without a verdict failed, which is not the model's fault; its reason begins with "judge".

    Attributes:
        reader: finds answer and gold, and the status of a sample; it does not compare.
        evaluator: makes values of verdicts.
        judgement_of: what the judges said; nothing before they are asked.
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
        with scoring(place_of(prediction)):
            known = self.evaluator.without_judge(sample.extracted, sample.gold)
            return self._judged(sample, prediction) if known is None else replace(sample, values=self._complete(known))

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
                what = f"{type(self.evaluator).__name__} gives no {metric!r}"
                raise PartError(what, where=where, fix="return a value for each of its metrics")
        return dict(values)

    def _judged(self, sample: SampleScore, prediction: Prediction) -> SampleScore:
        from ais_prompt.judges import decide

        replies = self.judgement_of(sample, prediction)
        if not replies:
            return _unjudged(sample, "judge not_judged")
        orders = [tuple(map(self._verdict, one.said)) for one in replies]
        votes = [self._vote(one, verdicts) for one, verdicts in zip(replies, orders, strict=True)]
        if len(votes) > 1 or votes[0].orders or isinstance(self.evaluator, AsksInParts):
            sample = replace(sample, verdicts=tuple(votes))
        panels = [list(panel) for _, panel in groupby(votes, attrgetter("rival"))]
        decided = [values for panel in panels if (values := decide(self.evaluator, panel, sample.gold)) is not None]
        if decided:
            means = {metric: exact_mean([values[metric] for values in decided]) for metric in decided[0]}
            return replace(sample, values=self._complete(means if len(decided) > 1 else decided[0]))
        said = (reply for one in replies for reply in one.said)
        silent = [reply for reply, verdict in zip(said, chain(*orders), strict=True) if verdict is None]
        undecided: str = getattr(self.evaluator, "undecided", "judges undecided")
        return _unjudged(sample, self._why_silent(silent[0]) if silent else undecided)

    def _verdict(self, reply: Prediction) -> str | None:
        if reply.failed:
            return None
        if self._reads_tokens:
            assert isinstance(self.evaluator, ReadsTokens)
            return self.evaluator.verdict_of_tokens(reply.prediction, reply.completions[-1].tokens)
        return self.evaluator.verdict(reply.prediction)

    @property
    def _reads_tokens(self) -> bool:
        return isinstance(self.evaluator, ReadsTokens) and self.evaluator.top_logprobs is not None

    def _why_silent(self, reply: Prediction) -> str:
        """Return why a reply has no verdict."""
        if reply.failed:
            return f"judge {failure_kind(reply)}"
        if self._reads_tokens and not reply.completions[-1].tokens:
            return "judge gave no log-probabilities"
        return "judge cut at max_out_len" if reply.truncated else "judge without verdict"

    def _vote(self, replies: Replies, verdicts: tuple[str | None, ...]) -> JudgeVerdict:
        """Return what one judge said, from its verdict or its verdicts in both orders."""
        if not isinstance(self.evaluator, PanelEvaluator):
            return JudgeVerdict(replies.judge, verdicts[0])
        orders = verdicts if self.evaluator.compares else ()
        return JudgeVerdict(replies.judge, self.evaluator.vote(verdicts), orders, replies.rival)


class _NoComparison(Struct):
    """Stand-in for an evaluator where the judge compares."""

    metrics: tuple[str, ...]

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002
        return {}

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:  # noqa: ARG002
        return []


def _unjudged(sample: SampleScore, reason: str) -> SampleScore:
    return replace(sample, status="failed", values={}, reason=reason)
