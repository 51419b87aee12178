"""The verdicts of a judge about the answers of a task, as its predictions hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from ais_prompt.plan.plan import Task
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import Completion, Failure, Prediction, SampleScore
from ais_prompt.utils.digest import digest

NOT_JUDGED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("not_judged", "")),))
"""What takes the place of a verdict that is not there."""


class Question(Struct, frozen=True):
    """A question to a judge.

    Attributes:
        id: its name among those about the answers of a task.
        sample_id: the sample whose answer it is about.
        fields: columns of the judge's prompt, next to those of the row; they hide a row's own of these names.
        gold: of the sample.
    """

    id: str
    sample_id: str
    fields: Mapping[str, Any]
    gold: Any = None


class Verdicts:
    """Find what a judge said about an answer. The file is read when the first verdict is needed.

    Args:
        task: whose answers are judged.
        folder: of the run.
    """

    def __init__(self, task: Task, folder: RunFolder) -> None:
        self._task = task
        self._folder = folder
        self._said: dict[str, Prediction] | None = None

    def about(self, sample: SampleScore) -> Prediction:
        """Return what was said about an answer that was read; a failure if nothing was.

        Raises:
            StoreError, DataError: the verdicts cannot be read.
        """
        return self.of(question_id(sample))

    def of(self, question: str) -> Prediction:
        """Return what was said to the question with an id; a failure if nothing was.

        Raises:
            StoreError, DataError: the verdicts cannot be read.
        """
        if self._said is None:
            self._said = {said.sample_id: said for said in self._read()}
        return self._said.get(question, NOT_JUDGED)

    def _read(self) -> list[Prediction]:
        judge = self._task.spec.dataset.eval.judge
        assert judge is not None  # `build_evaluator` refuses an evaluator that needs a judge and has none
        folder = self._folder.judge(self._task.spec.model.abbr)
        path = folder.predictions(judge.model.abbr, self._task.spec.dataset.abbr)
        return list(read_predictions(path, with_prompts=False))


def question_id(sample: SampleScore) -> str:
    """Return the id of a judge's question, from the sample's id, its answer and its gold."""
    return f"{sample.sample_id}-{digest([sample.extracted, sample.gold])}"
