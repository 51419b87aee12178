"""Inference of one task: every sample is asked about once, and every answer is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from ais_prompt.errors import AisPromptError
from ais_prompt.inferencers import Conversation, Desk, Dialogue, DialogueInferencer, Inferencer, drive
from ais_prompt.models.base import Model
from ais_prompt.readers.base import Dataset
from ais_prompt.retrievers import ShotIds
from ais_prompt.store.journal import Journal, request_key
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import PredictionSorter, sorted_predictions
from ais_prompt.tasks.build import build_desk, build_inferencer, build_prompts, build_retriever, read_dataset
from ais_prompt.tasks.media import check_media
from ais_prompt.tasks.progress import OpenProgress, Progress
from ais_prompt.tasks.shots import fitting_shots
from ais_prompt.types import Completion, Request, Sample, TaskFacts, TaskSpec

ROWS_KEPT: Final = 2048
"""How many rows of the train split are kept at most, so that a large one does not fill the memory."""


@dataclass(frozen=True)
class Inference:
    """A task made ready: its data, its shots, and the parts that turn samples into requests.

    Attributes:
        shot_ids: rows of the train split for each test sample.
    """

    data: Dataset
    shot_ids: tuple[ShotIds, ...]
    inferencer: Inferencer
    desk: Desk

    def shots_retrieved(self, index: int) -> int:
        """How many in-context examples were found for a test sample."""
        return len(self.shot_ids[index])

    def shots(self, sample: Sample) -> Sequence[Sample]:
        """The in-context examples of a test sample, as many as fit."""
        retrieved = list(map(self._train_row, self.shot_ids[sample.index]))
        return fitting_shots(self.inferencer, sample, retrieved, self.desk)

    @cached_property
    def _train_row(self) -> Callable[[int], Sample]:
        # To read a row takes as long as to write a prompt, and many prompts show the same rows.
        return lru_cache(ROWS_KEPT)(lambda row: self.data.train[row])


def prepare(task: TaskSpec, model: Model) -> Inference:
    """Read the data and build the parts of a task; no model is loaded and nothing is asked.

    Raises:
        AisPromptError: whatever is wrong with the config or the data.
    """
    data = read_dataset(task.dataset)
    retriever = build_retriever(task.dataset)
    inferencer = build_inferencer(task.dataset)
    prompts = build_prompts(task.dataset, retriever, inferencer)
    try:
        shot_ids = tuple(retriever.retrieve(data.train, data.test))
    except AisPromptError as error:
        error.where = error.where or task.dataset.infer.retriever.where
        raise
    if isinstance(inferencer, DialogueInferencer):  # it shows none
        shot_ids = ((),) * len(data.test)
    return Inference(data, shot_ids, inferencer, build_desk(task.model, model, prompts, data))


def infer(task: TaskSpec, model: Model, folder: RunFolder, open_progress: OpenProgress) -> TaskFacts:
    """Ask about every sample, from the journal as far as it reaches, and write the predictions.

    Raises:
        AisPromptError: the task cannot go on; what was answered is in the journal.
    """
    work = prepare(task, model)
    check_media(work.desk.builder, work.data.test)
    model_abbr, dataset_abbr = task.model.abbr, task.dataset.abbr
    with (
        Journal.open(folder.journal(model_abbr, dataset_abbr)) as journal,
        sorted_predictions(folder.predictions(model_abbr, dataset_abbr)) as predictions,
    ):
        memory = _Memory(journal, model)
        known, used = _known(work, memory) if len(journal) else (0, 0)
        with open_progress(task.name, total=len(work.data.test), done=known) as progress:
            if len(journal):
                progress.note(_reuse_note(task, known, len(work.data.test), len(journal) - used))
            tally = _Tally(work, progress, predictions)
            drive(model, _dialogues(work, memory), memory.record, tally.finished, has_answered=known > 0)
            if tally.shortened:
                progress.note(_shortened_note(task, tally.shortened, len(work.data.test), model))
    data = work.data
    return TaskFacts(model.identity(), data.digest, tuple(data.origins), len(data.test), tally.failed, tally.shortened)


class _Memory:
    """The answers of a task, as its journal has them."""

    def __init__(self, journal: Journal, model: Model) -> None:
        self._journal = journal
        self._identity = model.identity()
        # No request is made twice in one run, so a journal that was empty at its beginning need not be looked up.
        self._goes_on = len(journal) > 0

    def recall(self, request: Request) -> Completion | None:
        return self._journal.get(self._key(request)) if self._goes_on else None

    def record(self, request: Request, completion: Completion) -> None:
        self._journal.append(self._key(request), request, completion)

    def _key(self, request: Request) -> str:
        return request_key(self._identity, request)


def _dialogues(work: Inference, memory: _Memory) -> Iterator[Dialogue]:
    for sample in work.data.test:
        try:
            yield Dialogue(_conversation(work, sample), memory.recall)
        except AisPromptError as error:
            error.where = error.where or f"sample {sample.id}, row {sample.index}"
            raise


def _conversation(work: Inference, sample: Sample) -> Conversation:
    shots = work.shots(sample)
    prediction = yield from work.inferencer.converse(sample, shots, work.desk)
    return replace(prediction, shots_used=len(shots))


def _known(work: Inference, memory: _Memory) -> tuple[int, int]:
    """How many samples the journal answers completely, and with how many of its answers."""
    known = used = 0
    for dialogue in _dialogues(work, memory):
        if dialogue.prediction is not None and _is_known(dialogue):
            known += 1
            used += len(dialogue.prediction.completions)
    return known, used


def _is_known(dialogue: Dialogue) -> bool:
    """Whether it was answered before, and nothing has to be done for it. What cannot be asked never was answered."""
    return dialogue.recalled and dialogue.prediction is not None and not dialogue.prediction.failed


def _reuse_note(task: TaskSpec, known: int, total: int, unused: int) -> str:
    note = f"[{task.name}] {known} of {total} samples are answered already, {total - known} will be asked"
    if unused > 0:
        note += f"; {unused} stored answers belong to other prompts or settings, or to unfinished samples"
    return note


def _shortened_note(task: TaskSpec, shortened: int, total: int, model: Model) -> str:
    return (
        f"[{task.name}] {shortened} of {total} prompts show fewer examples than retrieved, to keep to "
        f"max_seq_len={model.max_seq_len}; shots_used in the predictions says how many"
    )


class _Tally:
    """Passes on what is over, and counts samples without an answer or with fewer examples."""

    def __init__(self, work: Inference, progress: Progress, predictions: PredictionSorter) -> None:
        self._work = work
        self._progress = progress
        self._predictions = predictions
        self.failed = 0
        self.shortened = 0

    def finished(self, over: Dialogue) -> None:
        prediction = over.prediction
        assert prediction is not None  # it is over
        self._predictions.add(prediction)
        self.failed += prediction.failed
        self.shortened += prediction.shots_used < self._work.shots_retrieved(prediction.index)
        if not _is_known(over):
            self._progress.advance(failed=prediction.failed)
