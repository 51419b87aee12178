"""Score the answers to all questions together, with an evaluator that needs them all at once."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ais_prompt.evaluators.base import Verdict
from ais_prompt.metrics.aggregate import AnswerCounts, mean_scores
from ais_prompt.scoring.answer_batches import JudgedAnswers, read
from ais_prompt.scoring.judges.panel import by_judge
from ais_prompt.scoring.scorer import Scorer
from ais_prompt.types import JudgeVerdict, Prediction, SampleScore, Score


class BatchScorer:
    """Give each answer the values that the evaluator gave it when it scored all of them.

    Answers of one question must come in the order of its repeats.

    Args:
        reader: finds answer and gold, and the status of a sample.
        evaluator: what was said of all answers; see `JudgedAnswers`.
    """

    def __init__(self, reader: Scorer, evaluator: BatchVerdicts) -> None:
        self.evaluator = evaluator
        self._reader = reader
        self._asked: Counter[str] = Counter()

    def score(self, prediction: Prediction) -> SampleScore:
        """Score one answer.

        Raises:
            GoldError, PartError: as `Scorer.score`.
        """
        sample = read(self._reader, prediction)
        replica = self._asked[prediction.sample_id]
        self._asked[prediction.sample_id] += 1
        if reason := self.evaluator.unjudged(prediction.sample_id, replica):
            return replace(sample, status="failed", values={}, reason=reason)
        values = self.evaluator.values(prediction.sample_id, replica)
        return replace(sample, values=values, verdicts=self.evaluator.votes(values))

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of an answer that does not count in the value."""
        return self._reader.failed(prediction, reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the dataset."""
        return self.evaluator.aggregate(samples)


def joint_verdict(verdicts: Sequence[Verdict], judges: Sequence[str]) -> Verdict:
    """Return what several judges say: the mean of each number, then the numbers of each judge by itself.

    Args:
        verdicts: one for each judge, about the same answers.
        judges: ``abbr`` of each.
    """
    if len(verdicts) < 2:
        return verdicts[0]
    shared = [metric for metric in verdicts[0].metrics if all(metric in one.metrics for one in verdicts)]
    known = [metric for metric in shared if all(metric in one.each for one in verdicts)]
    metrics = {metric: statistics.fmean(one.metrics[metric] for one in verdicts) for metric in shared}
    each: dict[str, Sequence[float]] = {
        metric: [statistics.fmean(values) for values in zip(*(one.each[metric] for one in verdicts), strict=True)]
        for metric in known
    }
    for judge, verdict in zip(judges, verdicts, strict=True):
        metrics |= {by_judge(metric, judge): value for metric, value in verdict.metrics.items()}
        each |= {by_judge(metric, judge): values for metric, values in verdict.each.items()}
    return Verdict(metrics, each)


class BatchVerdicts:
    """What an evaluator said of all answers, for each of the repeats of a question.

    Attributes:
        metrics: names of the numbers that it gave.
    """

    def __init__(
        self,
        verdicts: Sequence[Verdict] = (),
        batches: Sequence[JudgedAnswers] = (),
        judges: Sequence[str] = (),
    ) -> None:
        """Keep verdicts.

        Args:
            verdicts: one for each repeat.
            batches: the answers of each repeat.
            judges: ``abbr`` of each, if there are several; `joint_verdict` made the verdicts of theirs.
        """
        self._judges = judges
        self.metrics = tuple(dict.fromkeys(metric for verdict in verdicts for metric in verdict.metrics))
        self._verdicts = verdicts
        self._known = [metric for metric in self.metrics if all(metric in verdict.each for verdict in verdicts)]
        self._rows = [{sample: row for row, sample in enumerate(batch.answers.ids)} for batch in batches]
        self._unjudged = [batch.unjudged for batch in batches]

    def unjudged(self, sample_id: str, replica: int) -> str:
        """Return why the judge's part of an answer is missing; empty if it is not."""
        return self._unjudged[replica].get(sample_id, "") if replica < len(self._unjudged) else ""

    def values(self, sample_id: str, replica: int) -> Mapping[str, float]:
        """Return the values of one answer; empty if nothing is known of it alone."""
        row = self._rows[replica].get(sample_id) if replica < len(self._rows) else None
        return {} if row is None else {m: self._verdicts[replica].each[m][row] for m in self._known}

    def votes(self, values: Mapping[str, float]) -> tuple[JudgeVerdict, ...]:
        """Return what each of several judges says of an answer with these values; empty if that is not known."""
        names = {judge: by_judge(self.metrics[0], judge) for judge in self._judges} if self.metrics else {}
        if any(name not in values for name in names.values()):
            return ()
        return tuple(JudgeVerdict(judge, values[name]) for judge, name in names.items())

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:  # noqa: ARG002
        """Return nothing: answers are not scored one by one."""
        return {}

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return a mean with its interval for each metric that is one, and the bare number for the others."""
        counts = AnswerCounts(samples)
        return [
            self._mean(metric, samples) if metric in self._known else self._whole(metric, counts)
            for metric in self.metrics
        ]

    def _mean(self, metric: str, samples: Sequence[SampleScore]) -> Score:
        within = all(0 <= value <= 1 for verdict in self._verdicts for value in verdict.each[metric])
        return mean_scores((metric,), samples, best=1.0 if within else None)[0]

    def _whole(self, metric: str, counts: AnswerCounts) -> Score:
        found = [verdict.metrics[metric] for verdict in self._verdicts if metric in verdict.metrics]
        return Score(
            metric=metric,
            value=statistics.fmean(found) if found else None,
            stderr=None,
            n=counts.n,
            counts=counts.statuses,
            repeats=counts.repeats,
            fraction=False,
        )
