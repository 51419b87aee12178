"""The conversations of a task: what is asked about each of its samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.checks.rows import numbered, shown_gap
from ais_prompt.errors import AisPromptError, DataError, PromptError
from ais_prompt.inferencers import Conversation, RepeatingInferencer, RunningConversation
from ais_prompt.inferencers.containment import UNUSABLE_ROW, ends_task, failure_of
from ais_prompt.inferencers.running_conversation import Recall
from ais_prompt.models.identity import former_identities
from ais_prompt.plan.cluster import cluster_of
from ais_prompt.plan.plan import Task
from ais_prompt.store.journal import JournalView
from ais_prompt.store.request_keys import FormerKeys, RequestKeys
from ais_prompt.types import Completion, Failure, Portion, Prediction, Request, Sample
from ais_prompt.utils.occurrences import Occurrences

LONGEST_NAME: Final = 60
"""Longest text of a column that counts as a name, such as a subject or a level; longer ones are content."""


def conversations(
    task: Task, recall: Recall, samples: Iterable[Sample], cluster: str | None = None, portion: Portion | None = None
) -> Iterator[RunningConversation]:
    """Start one conversation after the other, each when it is taken.

    Args:
        task: which model is asked what.
        recall: looks up earlier answers.
        samples: of the task's data, in the order of asking.
        cluster: ``eval_cfg.cluster``, to be noted in the predictions.
        portion: only those of its samples. The prompts of the others are made too, since equal prompts are numbered
            over the whole dataset.

    Raises:
        AisPromptError: the task cannot be asked at all; ``where`` names the sample.
    """
    openings = Occurrences(len(task.data.test))
    for sample in samples:
        try:
            conversation = _conversation(task, sample, openings, cluster)
            if portion is None or portion.holds(sample.id):
                yield RunningConversation(conversation, recall)
            else:
                with suppress(StopIteration):  # it cannot be asked
                    next(conversation)
                conversation.close()
        except AisPromptError as error:
            error.where = error.where or f"sample {sample.id}, row {sample.index}"
            raise


def former_keys_of(task: Task, addresses: Sequence[str]) -> FormerKeys:
    """Return what makes the keys that an earlier version gave to a task's requests.

    Args:
        task: which model is asked what.
        addresses: where earlier sessions asked; version 1 had the address in its keys.
    """
    rows = {sample.id: sample.row_id for sample in task.data.test}
    return FormerKeys(former_identities(task.model, addresses), rows)


def stored_predictions(task: Task, journals: Sequence[Path], addresses: Sequence[str]) -> Iterator[Prediction]:
    """Yield the predictions of the samples that journals answer to their end, in sample order; nothing is asked.

    Failures count: they are what came of asking so far. So do samples that cannot be asked at all.

    Args:
        task: which model was asked what.
        journals: its journals, which other processes may be writing.
        addresses: as for `former_keys_of`.

    Raises:
        AisPromptError: the data, the model's files or the journal cannot be read.
    """
    view = JournalView(*journals)
    key_of = RequestKeys(task.model.identity())
    former = former_keys_of(task, addresses) if view.has_former_keys else lambda _: iter(())

    def recall(request: Request) -> Completion | None:
        return view.get(chain([key_of(request)], former(request)))

    if len(view):
        for conversation in conversations(task, recall, task.data.test, task.spec.dataset.eval.cluster):
            if conversation.prediction is not None:
                yield conversation.prediction


def _conversation(task: Task, sample: Sample, openings: Occurrences, cluster: str | None) -> Conversation:
    shots: Sequence[Sample] = ()
    try:
        shots = task.shots(sample)
        if gap := shown_gap(task.inferencer, sample, shots, task.context):
            prediction = _without_answer(task, sample, gap)
        else:
            prediction = yield from numbered(task.inferencer.converse(sample, shots, task.context), openings)
    except (DataError, PromptError) as error:
        what = f"row {sample.index} cannot be asked: {error.what}; {error.fix}"
        failure = Failure(UNUSABLE_ROW, what, where=error.where)
        prediction = _without_answer(task, sample, failure)
    except Exception as error:
        if ends_task(error):
            raise
        prediction = _without_answer(task, sample, failure_of(error, type(task.inferencer).__name__))
    return replace(
        prediction,
        shots_used=len(shots),
        row_id=sample.row_id,
        cluster=cluster_of(sample, cluster),
        columns=columns_of(sample, task.spec.dataset.reader.output_column),
    )


def columns_of(sample: Sample, gold: str | None) -> dict[str, Any]:
    """Return the columns of a row that reports filter by: with a number, a flag or a name, except the gold column."""
    return {name: value for name, value in sample.fields.items() if name != gold and _is_name(value)}


def _is_name(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_NAME and "\n" not in value
    return isinstance(value, bool | int | float)


def _without_answer(task: Task, sample: Sample, failure: Failure) -> Prediction:
    """The prediction for a sample about which nothing could be asked, as many answers as the others have."""
    n = task.inferencer.n if isinstance(task.inferencer, RepeatingInferencer) else 1
    answers = (Completion(failure=failure),) * n
    return Prediction(sample.id, sample.index, "", [None] * n if n > 1 else None, sample.gold, answers)
