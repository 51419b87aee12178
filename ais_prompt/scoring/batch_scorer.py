"""Score the answers to all questions together, with an evaluator that needs them all at once."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ais_prompt.evaluators.batch import Verdict
from ais_prompt.metrics.aggregate import AnswerCounts, mean_scores
from ais_prompt.scoring.answer_batches import JudgedAnswers, read
from ais_prompt.scoring.scorer import Scorer
from ais_prompt.types import Prediction, SampleScore, Score


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
        return replace(sample, values=self.evaluator.values(prediction.sample_id, replica))

    def failed(self, prediction: Prediction, reason: str) -> SampleScore:
        """Return the score of an answer that does not count in the value."""
        return self._reader.failed(prediction, reason)

    def aggregate(self, samples: Sequence[SampleScore]) -> list[Score]:
        """Return the scores of the dataset."""
        return self.evaluator.aggregate(samples)


class BatchVerdicts:
    """What an evaluator said of all answers, for each of the repeats of a question.

    Attributes:
        metrics: names of the numbers that it gave.
    """

    def __init__(self, verdicts: Sequence[Verdict] = (), batches: Sequence[JudgedAnswers] = ()) -> None:
        """Keep verdicts.

        Args:
            verdicts: one for each repeat.
            batches: the answers of each repeat.
        """
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
