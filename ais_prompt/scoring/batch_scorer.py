"""Score the answers to all questions together, with an evaluator that needs them all at once."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from ais_prompt.errors import DataError, PartError
from ais_prompt.evaluators.batch import AnswerBatch, BatchEvaluator, Verdict
from ais_prompt.metrics.aggregate import AnswerCounts, mean_scores
from ais_prompt.plan.plan import PlannedDataset
from ais_prompt.scoring.scorer import Scorer
from ais_prompt.types import Prediction, SampleScore, Score
from ais_prompt.types.prompt import prompts_to_json


class BatchScorer:
    """Give each answer the values that the evaluator gave it when it scored all of them.

    Answers of one question must come in the order of its repeats.

    Args:
        reader: finds answer and gold, and the status of a sample.
        evaluator: what was said of all answers; see `score_batches`.
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

    def __init__(self, verdicts: Sequence[Verdict], ids: Sequence[Sequence[str]]) -> None:
        """Keep verdicts.

        Args:
            verdicts: one for each repeat.
            ids: the samples of each repeat, in the order of its answers.
        """
        self.metrics = tuple(dict.fromkeys(metric for verdict in verdicts for metric in verdict.metrics))
        self._verdicts = verdicts
        self._known = [metric for metric in self.metrics if all(metric in verdict.each for verdict in verdicts)]
        self._rows = [{sample: row for row, sample in enumerate(samples)} for samples in ids]

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


def score_batches(
    evaluator: BatchEvaluator,
    reader: Scorer,
    predictions: Iterable[Prediction],
    singles: Callable[[Prediction], Iterator[Prediction]],
    dataset: PlannedDataset,
) -> BatchVerdicts:
    """Score all answers, each repeat of the questions by itself.

    Args:
        evaluator: what scores them.
        reader: finds answer and gold.
        predictions: all answers, with their prompts.
        singles: splits a prediction into its repeats.
        dataset: whose answers they are.

    Raises:
        AisPromptError: the evaluator cannot score them.
    """
    batches: list[list[tuple[Prediction, SampleScore]]] = []
    for prediction in predictions:
        with suppress(DataError, PartError):  # it comes again when the sample is scored
            for replica, one in enumerate(singles(prediction)):
                sample = read(reader, one)
                batches += [[] for _ in range(replica + 1 - len(batches))]
                if sample.status != "failed":
                    batches[replica].append((one, sample))
    answered = [batch for batch in batches if batch]
    verdicts = [evaluator.score_all(_batch(batch, dataset, number)) for number, batch in enumerate(answered)]
    return BatchVerdicts(verdicts, [[one.sample_id for one, _ in batch] for batch in answered])


def read(reader: Scorer, prediction: Prediction) -> SampleScore:
    """Return answer, gold and status of a prediction. A dialogue has a list of answers."""
    if not isinstance(prediction.prediction, list) or prediction.failed:
        return reader.score(prediction)
    turns = [reader.score(replace(prediction, prediction=text, gold=None)) for text in prediction.prediction]
    first = turns[0]
    return replace(first, extracted=[turn.extracted for turn in turns], gold=prediction.gold)


def _batch(answers: Sequence[tuple[Prediction, SampleScore]], dataset: PlannedDataset, replica: int) -> AnswerBatch:
    has_gold = dataset.spec.reader.output_column is not None
    return AnswerBatch(
        predictions=["" if sample.extracted is None else sample.extracted for _, sample in answers],
        references=[sample.gold for _, sample in answers] if has_gold else None,
        prompts=[prompts_to_json(one.origin_prompt) for one, _ in answers],
        rows=lambda: _rows([one.sample_id for one, _ in answers], dataset),
        replica=replica,
    )


def _rows(ids: Sequence[str], dataset: PlannedDataset) -> Any:
    """Return the rows of samples as an Arrow table.

    Raises:
        DataError: the data is not there, or no longer what was asked about.
    """
    import pyarrow as pa

    data = dataset.data
    rows = {name: sample.fields for sample in data.test for name in (sample.row_id, sample.id)}
    if missing := [name for name in ids if name not in rows]:
        raise DataError(
            f"the row of sample {missing[0]} is no longer in the data, and the evaluator needs it",
            where=dataset.spec.where,
            fix="score with the data that was asked about, and the same test_range",
        )
    *_, test = data.tables.values()
    return pa.Table.from_pylist([dict(rows[name]) for name in ids], schema=test.batches.schema)
