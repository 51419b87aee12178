"""The conversations of a task: what is asked about each of its samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ais_prompt.errors import AisPromptError
from ais_prompt.inferencers import Conversation, RepeatingInferencer, RunningConversation
from ais_prompt.inferencers.containment import ends_task, failure_of
from ais_prompt.inferencers.running_conversation import Recall
from ais_prompt.plan.cluster import cluster_of
from ais_prompt.plan.duplicates import numbered
from ais_prompt.plan.gaps import shown_gap
from ais_prompt.plan.plan import Task
from ais_prompt.types import Completion, Failure, Prediction, Sample
from ais_prompt.utils.occurrences import Occurrences


def conversations(
    task: Task, recall: Recall, samples: Iterable[Sample], cluster: str | None = None
) -> Iterator[RunningConversation]:
    """Start one conversation after the other, each when it is taken.

    Args:
        task: which model is asked what.
        recall: looks up earlier answers.
        samples: of the task's data, in the order of asking.
        cluster: ``eval_cfg.cluster``, to be noted in the predictions.

    Raises:
        AisPromptError: the task cannot be asked at all; ``where`` names the sample.
    """
    openings = Occurrences(len(task.data.test))
    for sample in samples:
        try:
            yield RunningConversation(_conversation(task, sample, openings, cluster), recall)
        except AisPromptError as error:
            error.where = error.where or f"sample {sample.id}, row {sample.index}"
            raise


def _conversation(task: Task, sample: Sample, openings: Occurrences, cluster: str | None) -> Conversation:
    shots: Sequence[Sample] = ()
    try:
        shots = task.shots(sample)
        if gap := shown_gap(task.inferencer, sample, shots, task.context):
            prediction = _without_answer(task, sample, gap)
        else:
            prediction = yield from numbered(task.inferencer.converse(sample, shots, task.context), openings)
    except Exception as error:
        if ends_task(error):
            raise
        prediction = _without_answer(task, sample, failure_of(error, type(task.inferencer).__name__))
    return replace(prediction, shots_used=len(shots), row_id=sample.row_id, cluster=cluster_of(sample, cluster))


def _without_answer(task: Task, sample: Sample, failure: Failure) -> Prediction:
    """The prediction for a sample about which nothing could be asked, as many answers as the others have."""
    n = task.inferencer.n if isinstance(task.inferencer, RepeatingInferencer) else 1
    answers = (Completion(failure=failure),) * n
    return Prediction(sample.id, sample.index, "", [None] * n if n > 1 else None, sample.gold, answers)
