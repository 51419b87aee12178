"""The verdicts of a judge about the answers of a task, as its predictions hold them."""

from __future__ import annotations

from typing import Final

from ais_prompt.plan.plan import Task
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import Completion, Failure, Prediction, SampleScore
from ais_prompt.utils.digest import digest

NOT_JUDGED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("not_judged", "")),))
"""What takes the place of a verdict that is not there."""


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
        if self._said is None:
            self._said = {said.sample_id: said for said in self._read()}
        return self._said.get(question_id(sample), NOT_JUDGED)

    def _read(self) -> list[Prediction]:
        judge = self._task.spec.dataset.eval.judge
        assert judge is not None  # `build_evaluator` refuses an evaluator that needs a judge and has none
        folder = self._folder.judge(self._task.spec.model.abbr)
        path = folder.predictions(judge.model.abbr, self._task.spec.dataset.abbr)
        return list(read_predictions(path, with_prompts=False))


def question_id(sample: SampleScore, name: str = "") -> str:
    """Return the id of a judge's question, from the sample's id (or ``name``), its answer and its gold."""
    return f"{name or sample.sample_id}-{digest([sample.extracted, sample.gold])}"
