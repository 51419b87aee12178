"""The verdicts of judges about the answers of a task, as their predictions hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from ais_prompt.plan.plan import Task
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.types import Completion, Failure, JudgeSpec, Prediction, SampleScore
from ais_prompt.utils.digest import digest

ORDERS: Final = (False, True)
"""Whether the answer of the baseline comes first, for each question about a pair of answers."""

NOT_JUDGED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("not_judged", "")),))
"""What takes the place of a verdict that is not there."""


NOT_COMPARED: Final = Prediction("", 0, "", None, None, (Completion(failure=Failure("no_baseline_answer", "")),))
"""What takes the place of a verdict about an answer with which nothing can be compared."""


class Replies(Struct, frozen=True):
    """What one judge said about an answer.

    Attributes:
        judge: its ``abbr``.
        said: one reply, or one for each of `ORDERS`.
    """

    judge: str
    said: Sequence[Prediction]


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
    """Find what judges said about an answer. The files are read when the first verdict is needed.

    Args:
        task: whose answers are judged.
        folder: of the run.
    """

    def __init__(self, task: Task, folder: RunFolder) -> None:
        self._task = task
        self._folder = folder
        self._said: dict[str, dict[str, Prediction]] | None = None

    def about(self, sample: SampleScore, prediction: Prediction) -> list[Replies]:
        """Return what each judge said about an answer that was read; failures where nothing was said.

        Raises:
            StoreError, DataError: the verdicts cannot be read.
        """
        missing = NOT_JUDGED if self._judge.baseline is None else NOT_COMPARED
        compares = self._judge.baseline is not None
        questions = questions_about(sample, prediction.earlier, compares=compares)
        return [
            Replies(judge, [said.get(question, missing) for question in questions])
            for judge, said in self._all().items()
        ]

    def of(self, question: str) -> list[Prediction]:
        """Return what each judge said to the question with an id; a failure where nothing was.

        Raises:
            StoreError, DataError: the verdicts cannot be read.
        """
        return [said.get(question, NOT_JUDGED) for said in self._all().values()]

    @property
    def _judge(self) -> JudgeSpec:
        judge = self._task.spec.dataset.eval.judge
        assert judge is not None  # `build_evaluator` refuses an evaluator that needs a judge and has none
        return judge

    def _all(self) -> dict[str, dict[str, Prediction]]:
        """Return ``abbr`` of each judge → id of a question → what it said."""
        if self._said is None:
            folder = self._folder.judge(self._task.spec.model.abbr)
            self._said = {}
            for abbr in (model.abbr for model in self._judge.models):
                path = folder.predictions(abbr, self._task.spec.dataset.abbr)
                self._said[abbr] = {said.sample_id: said for said in read_predictions(path, with_prompts=False)}
        return self._said


def questions_about(sample: SampleScore, earlier: Sequence[Any] = (), *, compares: bool) -> list[str]:
    """Return the ids of the questions to a judge about an answer: one for each of `ORDERS` if two are compared."""
    return [question_id(sample, earlier, swapped=swapped) for swapped in (ORDERS if compares else ORDERS[:1])]


def question_id(sample: SampleScore, earlier: Sequence[Any] = (), *, swapped: bool = False) -> str:
    """Return the id of a judge's question, from the sample's id, its answer and its gold.

    Args:
        sample: whose answer it is about.
        earlier: the answers of earlier turns of a dialogue, which the judge may be shown.
        swapped: whether the answer of a baseline comes first.
    """
    shown = [sample.extracted, sample.gold, *([list(earlier)] if earlier else []), *(["swapped"] if swapped else [])]
    return f"{sample.sample_id}-{digest(shown)}"
