"""The protocol of evaluators that score all answers of a dataset together, as those of OpenCompass and AISBench do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from ais_prompt.evaluators.base import Evaluator


class AnswerBatch(Struct, frozen=True):
    """One answer to each question of a dataset, without those that failed.

    Attributes:
        predictions: the answers after postprocessing; empty where nothing was found.
        references: the golds after postprocessing; None if the dataset has none.
        prompts: what was sent.
        rows: reads the columns of each question. It may take long, and fails if the data is no longer there.
        replica: which of several answers to each question these are, from 0.
        row_numbers: reads the number of each question's row in the whole test split, from 0; may fail as ``rows``.
        model, dataset: names of the task.
        judgements: what a judge said, for each of the `JudgedBatchEvaluator.questions`.
    """

    predictions: Sequence[Any]
    references: Sequence[Any] | None
    prompts: Sequence[Any]
    rows: Callable[[], Sequence[Mapping[str, Any]]]
    replica: int = 0
    row_numbers: Callable[[], Sequence[int]] = tuple
    model: str = ""
    dataset: str = ""
    judgements: Sequence[str] = ()


class JudgeQuestion(Struct, frozen=True):
    """A question to a judge about one answer of a batch, or about that answer and one of another model.

    Attributes:
        answer: position of the answer in the batch.
        fields: columns of the judge's prompt, next to those of the row; they hide a row's own of these names.
    """

    answer: int
    fields: Mapping[str, Any]


class Verdict(Struct, frozen=True):
    """What an evaluator says of an `AnswerBatch`.

    Attributes:
        metrics: name → value for the whole dataset; the first is the main one.
        each: name → value of each answer, for those metrics that are the mean of these values, or its percentage.
    """

    metrics: Mapping[str, float]
    each: Mapping[str, Sequence[float]]


@runtime_checkable
class BatchEvaluator(Evaluator, Protocol):
    """An evaluator that needs all answers at once. Its metrics are known when it has scored."""

    def score_all(self, batch: AnswerBatch) -> Verdict:
        """Score all answers.

        Raises:
            AisPromptError: they cannot be scored.
        """


@runtime_checkable
class JudgedBatchEvaluator(BatchEvaluator, Protocol):
    """A `BatchEvaluator` that needs what a judge says of the answers. It may ask several questions about one answer."""

    def questions(self, batch: AnswerBatch) -> Sequence[JudgeQuestion]:
        """Return what the judge is asked; the same for the same batch.

        Raises:
            AisPromptError: data that the questions show is absent.
        """
