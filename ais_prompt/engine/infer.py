"""Inference of one task: every sample is asked about once, and every answer is kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from msgspec.structs import replace

from ais_prompt.engine.memory import Memory
from ais_prompt.engine.progress import OpenProgress, Progress
from ais_prompt.engine.speed import SpeedMeter
from ais_prompt.engine.watch import NeverEnough, Watch
from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.inferencers import (
    Conversation,
    RepeatingInferencer,
    RunningConversation,
    drive,
)
from ais_prompt.inferencers.containment import RAISED, ends_task, failure_of
from ais_prompt.inferencers.drive import RETRY_HINT
from ais_prompt.models.base import AsyncModel, Model
from ais_prompt.models.identity import cache_identity, former_identities, full_identity
from ais_prompt.plan.cluster import check_cluster, cluster_of
from ais_prompt.plan.duplicates import numbered
from ais_prompt.plan.gaps import NO_VALUE, shown_gap
from ais_prompt.plan.media import check_media, taken_kinds
from ais_prompt.plan.plan import Task
from ais_prompt.store.cache import open_cache
from ais_prompt.store.journal import Journal
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import PredictionSorter, sorted_predictions
from ais_prompt.store.request_keys import FormerKeys, RequestKeys
from ais_prompt.types import Activity, Completion, Failure, Prediction, Request, Sample, TaskFacts
from ais_prompt.utils.occurrences import Occurrences

logger = logging.getLogger(__name__)

GAPS_NAMED: Final = 5
"""Most rows without a value that are named while a task runs; the predictions name all."""
ORDER_SEED: Final = 0
"""Seed of the order in which samples are asked if asking may stop early."""


def infer(
    task: Task,
    folder: RunFolder,
    open_progress: OpenProgress,
    cache_folder: Path | None = None,
    watch_of: Callable[[int], Watch] | None = None,
    addresses: Sequence[str] = (),
) -> TaskFacts:
    """Ask about every sample, from the journal and the cache as far as they reach, and write the predictions.

    Args:
        task: which model is asked what.
        folder: where answers and predictions are written.
        open_progress: shows how far it is.
        cache_folder: answers of other runs; None to go without them.
        watch_of: makes, of the number of samples, what says when enough was asked; None to ask every sample. With it,
            samples are asked in a random order, the same in every session: those that were asked are a fair sample.
        addresses: where earlier sessions asked; version 1 had the address in its keys.

    Raises:
        AisPromptError: the task cannot go on; what was answered is in the journal.
    """
    model = task.model
    check_cluster(task.spec.dataset.eval, task.data.test)
    check_media(task.context.builder, task.data.test, task.shown_rows(), taken_kinds(model, task.context.builder))
    total = len(task.data.test)
    activity = partial(_activity, model) if isinstance(model, AsyncModel) else Activity
    model_abbr, dataset_abbr = task.spec.model.abbr, task.spec.dataset.abbr
    with (
        Journal.open(folder.journal(model_abbr, dataset_abbr)) as journal,
        open_cache(cache_folder, cache_identity(model), dataset_abbr) as cache,
        sorted_predictions(folder.predictions(model_abbr, dataset_abbr)) as predictions,
    ):
        has_former_keys = journal.has_former_keys or (cache is not None and cache.has_former_keys)
        former_keys = _former_keys(task, model, addresses) if has_former_keys else None
        memory = Memory(journal, RequestKeys(model.identity()), cache, former_keys)
        known, used = _known(task, memory) if memory.has_answers else (0, 0)
        with open_progress(task.name, total, known, activity) as progress:
            if memory.has_answers:
                progress.note(_reuse_note(task, known, total, len(journal) - used, memory.from_cache))
            watch = watch_of(total) if watch_of else NeverEnough()
            session = _Session(task, memory, progress, predictions, watch)
            samples = _in_random_order(task.data.test) if watch_of else task.data.test
            dialogues = _until(watch, _dialogues(task, memory, samples, task.spec.dataset.eval.cluster))
            drive(model, dialogues, session.record, session.finished, has_answered=known > 0)
            if watch.decided:
                progress.note(f"[{task.name}] its gates are decided after {session.samples} of {total} samples")
            if session.redacted:
                progress.note(_redacted_note(task, session.redacted))
            _tell_raised(task, session)
            if session.shortened:
                progress.note(_shortened_note(task, session.shortened, total, model))
    data = task.data
    return TaskFacts(
        full_identity(model),
        data.digest,
        tuple(data.origins),
        session.samples,
        session.failed,
        session.shortened,
        session.meter.speed() if isinstance(model, AsyncModel) else None,
        session.redacted,
        of=total if session.samples < total else None,
    )


def _activity(model: AsyncModel) -> Activity:
    """What a model is doing, for the display, which goes on without it."""
    try:
        return model.activity()
    except PartError:
        return Activity()


def _former_keys(task: Task, model: Model, addresses: Sequence[str]) -> FormerKeys:
    return FormerKeys(former_identities(model, addresses), {sample.id: sample.row_id for sample in task.data.test})


def _in_random_order(samples: Sequence[Sample]) -> Iterator[Sample]:
    order = np.random.default_rng(ORDER_SEED).permutation(len(samples))
    return (samples[int(index)] for index in order)


def _dialogues(
    task: Task, memory: Memory, samples: Iterable[Sample], cluster: str | None = None
) -> Iterator[RunningConversation]:
    openings = Occurrences(len(task.data.test))
    for sample in samples:
        try:
            yield RunningConversation(_conversation(task, sample, openings, cluster), memory.recall)
        except AisPromptError as error:
            error.where = error.where or f"sample {sample.id}, row {sample.index}"
            raise


def _until(watch: Watch, dialogues: Iterator[RunningConversation]) -> Iterator[RunningConversation]:
    """The dialogues, until enough was asked. Those that are under way come to their end."""
    for dialogue in dialogues:
        yield dialogue
        if watch.decided:
            return


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


def _known(task: Task, memory: Memory) -> tuple[int, int]:
    """How many samples the journal answers completely, and with how many of its answers."""
    known = used = 0
    for dialogue in _dialogues(task, memory, task.data.test):
        if dialogue.prediction is not None and _is_known(dialogue):
            known += 1
            used += len(dialogue.prediction.completions)
    return known, used


def _is_known(dialogue: RunningConversation) -> bool:
    """Whether it was answered before, and nothing has to be done for it. What cannot be asked never was answered."""
    return dialogue.recalled and dialogue.prediction is not None and not dialogue.prediction.failed


def _reuse_note(task: Task, known: int, total: int, unused: int, from_cache: int) -> str:
    note = f"[{task.name}] {known} of {total} samples are answered already, {total - known} will be asked"
    if from_cache:
        note += f"; {from_cache} answers come from the cache"
    if unused > 0:
        note += f"; {unused} stored answers belong to other prompts or settings, or to unfinished samples"
    return note


def _tell_raised(task: Task, session: _Session) -> None:
    """Warn of samples that failed because a part raised.

    Raises:
        PartError: all of them did.
    """
    if session.first_raised is None:
        return
    error = PartError(session.first_raised.message, where=session.first_raised.where, fix=RETRY_HINT)
    if session.raised == session.samples:
        raise error
    what = f"{session.raised} of {session.samples} samples failed because a part raised; the first:"
    logger.warning("[%s] %s\n  %s", task.name, what, "\n  ".join(error.lines()))


def _shortened_note(task: Task, shortened: int, total: int, model: Model) -> str:
    return (
        f"[{task.name}] {shortened} of {total} prompts show fewer examples than retrieved, to keep to "
        f"max_seq_len={model.max_seq_len}; shots_used in the predictions says how many"
    )


def _redacted_note(task: Task, redacted: int) -> str:
    return (
        f"[{task.name}] the answers to {redacted} samples repeat a secret; it is stored and scored as ***, and "
        "`redacted` in the predictions says where"
    )


class _Session:
    """Takes what comes of asking: writes it down, shows it, and counts it.

    Attributes:
        samples: how many are over.
        failed, shortened: samples without an answer, and with fewer examples than were retrieved.
        redacted: samples whose answers repeat a secret.
        raised, first_raised: samples that failed because a part raised, and the failure of the first.
        meter: how fast the model answered.
    """

    def __init__(
        self, task: Task, memory: Memory, progress: Progress, predictions: PredictionSorter, watch: Watch
    ) -> None:
        self.samples = 0
        self.failed = 0
        self.shortened = 0
        self.redacted = 0
        self.raised = 0
        self.first_raised: Failure | None = None
        self.meter = SpeedMeter()
        self._gaps = 0
        self._work = task
        self._memory = memory
        self._progress = progress
        self._predictions = predictions
        self._watch = watch

    def record(self, request: Request, completion: Completion) -> None:
        """A request has come to its end."""
        self._memory.record(request, completion)
        self._progress.answered(completion)
        self.meter.add(completion)

    def _name_gap(self, prediction: Prediction) -> None:
        """Name the first rows that cannot be asked."""
        failure = prediction.completions[0].failure if prediction.completions else None
        if failure is not None and failure.kind == NO_VALUE and self._gaps < GAPS_NAMED:
            self._gaps += 1
            self._progress.note(f"not asked: {failure.message}")

    def finished(self, over: RunningConversation) -> None:
        """A dialogue has come to its end."""
        prediction = over.prediction
        assert prediction is not None  # it is over
        self._predictions.add(prediction)
        self._name_gap(prediction)
        self._watch.see(prediction)
        self.samples += 1
        self.failed += prediction.failed
        self.redacted += any(completion.redacted for completion in prediction.completions)
        if raised := next(
            (one.failure for one in prediction.completions if one.failure and one.failure.kind == RAISED), None
        ):
            self.raised += 1
            self.first_raised = self.first_raised or raised
        self.shortened += prediction.shots_used < self._work.shots_retrieved(prediction.index)
        if not _is_known(over):
            self._progress.advance(failed=prediction.failed)
