"""A task made ready to be asked: its data, its in-context examples, and the parts that make requests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

from msgspec import Struct

from ais_prompt.errors import AisPromptError, PartError
from ais_prompt.inferencers import (
    InferenceContext,
    Inferencer,
)
from ais_prompt.inferencers.drive import RETRY_HINT
from ais_prompt.models.base import Model
from ais_prompt.plan.build import build_context, build_inferencer, build_prompts, build_retriever, read_dataset
from ais_prompt.plan.shots import fitting_shots
from ais_prompt.readers.base import Dataset
from ais_prompt.registry import is_shipped
from ais_prompt.retrievers import Retriever, ShotIds
from ais_prompt.types import Sample, TaskSpec
from ais_prompt.utils.places import defined_at

ROWS_KEPT: Final = 2048
"""How many rows of the train split are kept at most, so that a large one does not fill the memory."""


class Inference(Struct, frozen=True, dict=True):
    """A task made ready: its data, its shots, and the parts that turn samples into requests.

    Attributes:
        shot_ids: rows of the train split for each test sample.
    """

    data: Dataset
    shot_ids: Sequence[ShotIds]
    inferencer: Inferencer
    context: InferenceContext

    def shots_retrieved(self, index: int) -> int:
        """How many in-context examples were found for a test sample."""
        return len(self.shot_ids[index])

    def shots(self, sample: Sample) -> Sequence[Sample]:
        """The in-context examples of a test sample, as many as fit."""
        retrieved = list(map(self._train_row, self.shot_ids[sample.index]))
        return fitting_shots(self.inferencer, sample, retrieved, self.context)

    def shown_rows(self) -> Iterator[Sample]:
        """The rows of the train split that are retrieved as an example of any sample, each once."""
        return (self.data.train[row] for row in sorted({row for ids in self.shot_ids for row in ids}))

    @cached_property
    def _train_row(self) -> Callable[[int], Sample]:
        # To read a row takes as long as to write a prompt, and many prompts show the same rows.
        return lru_cache(ROWS_KEPT)(lambda row: self.data.train[row])


def prepare(task: TaskSpec, model: Model, data: Dataset | None = None) -> Inference:
    """Read the data and build the parts of a task; no model is loaded and nothing is asked.

    Args:
        task: which model is asked what.
        model: the model, not loaded yet.
        data: the questions, where they are not those of the dataset.

    Raises:
        AisPromptError: whatever is wrong with the config or the data.
    """
    data = data or read_dataset(task.dataset)
    retriever = build_retriever(task.dataset)
    inferencer = build_inferencer(task.dataset)
    prompts = build_prompts(task.dataset, retriever, inferencer)
    try:
        shot_ids = retriever.retrieve(data.train, data.test)
        if not is_shipped(type(retriever)):
            _check_shots(shot_ids, data, task.dataset.infer.retriever.type, retriever)
    except AisPromptError as error:
        error.where = error.where or task.dataset.infer.retriever.where
        raise
    return Inference(data, shot_ids, inferencer, build_context(task.model, model, prompts, data))


def _check_shots(shot_ids: Sequence[ShotIds], data: Dataset, name: str, retriever: Retriever) -> None:
    """See that a retriever gives rows of the train split, for each question.

    Raises:
        PartError: it does not.
    """
    found = f"{len(shot_ids)} lists of examples for {len(data.test)} questions"
    wrong = len(shot_ids) != len(data.test)
    for row in () if wrong else itertools.chain.from_iterable(shot_ids):
        if not 0 <= row < len(data.train):
            found, wrong = f"row {row} of {len(data.train)} train rows", True
            break
    if wrong:
        raise PartError(f"{name}.retrieve gives {found}", where=defined_at(retriever), fix=RETRY_HINT)
