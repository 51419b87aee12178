"""Read the answers of a task, and collect what judges have to be asked about them."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from ais_prompt.errors import DataError, PartError
from ais_prompt.evaluators import JudgedBatchEvaluator
from ais_prompt.judges import (
    Question,
    Replies,
    batch_question_id,
    fields_of_questions,
    reference_answer_of,
)
from ais_prompt.plan import Task
from ais_prompt.scoring.score import answers_of, scorer_of
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.types import Prediction, SampleScore


def answers_to_judge(task: Task, folder: RunFolder) -> list[Question]:
    """Return what the judge is asked, in the order of the samples. Equal answers to one question come once.

    Args:
        task: whose answers are judged.
        folder: of the run, with its predictions.

    Raises:
        AisPromptError: the predictions cannot be read, or a part cannot be made.
    """
    if isinstance(evaluator := task.dataset.evaluator, JudgedBatchEvaluator):
        return _of_batches(task, evaluator, folder)
    noted: dict[str, Question] = {}
    reference = reference_answer_of(task, folder) if task.spec.reference_answers is not None else None

    def note(sample: SampleScore, prediction: Prediction) -> list[Replies]:
        for name, fields in fields_of_questions(sample, prediction, reference):
            noted[name] = Question(name, sample.sample_id, fields, sample.gold)
        return []

    scorer = None
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    for prediction in read_predictions(path, with_prompts=task.dataset.has_turns):
        scorer = scorer or scorer_of(task, prediction, note)
        assert scorer is not None  # there is an evaluator, which needs a judge
        with suppress(DataError, PartError):  # raised again when the sample is scored
            scorer.score(prediction)
    return list(noted.values())


def _of_batches(task: Task, evaluator: JudgedBatchEvaluator, folder: RunFolder) -> list[Question]:
    """Return the questions of an evaluator that scores all answers together, each once."""
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    first = next(read_predictions(path, with_prompts=False), None)
    found: dict[str, Question] = {}
    for answers in answers_of(task, evaluator, first, read_predictions(path)) if first else ():
        for question in evaluator.questions(answers.batch):
            sample = answers.ids[question.answer]
            name = batch_question_id(sample, question)
            found.setdefault(name, Question(name, sample, question.fields))
    return list(found.values())


class AnsweredTask(Struct, frozen=True):
    """A task whose answers are there.

    Attributes:
        task: which one.
        asked, stopped_of: as for `ais_prompt.scoring.score.score_task`.
    """

    task: Task
    asked: int | None
    stopped_of: int | None

    @property
    def needs_judge(self) -> bool:
        """Whether judges have to be asked before it can be scored."""
        return bool(self.task.dataset.judges) and not self.task.spec.is_reference
