"""Ask judges about the answers of a task.

A judge is a model like any other; its samples are made of rows and answers. Its requests have a journal of their own,
so judging resumes where it stopped, and an answer is judged again only if the answer, the prompt or the judge has
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.data import Dataset
from ais_prompt.engine import AskingOptions, OpenProgress, TaskJob
from ais_prompt.errors import DataError, PartError
from ais_prompt.evaluators import JudgedBatchEvaluator
from ais_prompt.plan import (
    JudgedAnswer,
    PlannedDataset,
    PlannedModel,
    Task,
    built_once,
    judge_dataset,
    judge_fields,
    pair_fields,
    reference_answer_of,
    shown_answer,
)
from ais_prompt.scoring.batch_scorer import batch_question_id
from ais_prompt.scoring.judges.verdicts import ORDERS, Question, Replies, question_id
from ais_prompt.scoring.scorers import answers_of, scorer_of
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.types import Prediction, Sample, SampleScore

AnswersToJudge: TypeAlias = Callable[[Task], Sequence[Question]]


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
        for name, fields in _shown(sample, prediction, reference):
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


def _shown(
    sample: SampleScore, prediction: Prediction, reference: Callable[[str, int], JudgedAnswer | None] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and columns of each question about an answer; none if there is nothing to compare it with."""
    own = shown_answer(sample.extracted, prediction.origin_prompt)
    if reference is None:
        yield question_id(sample, prediction.earlier), judge_fields({}, own, sample.gold)
    elif (other := reference(sample.sample_id, len(prediction.earlier))) is not None:
        for swapped in ORDERS:
            pair = (other, own) if swapped else (own, other)
            yield question_id(sample, prediction.earlier, swapped=swapped), pair_fields({}, *pair, sample.gold)


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


class JudgeJob(TaskJob):
    """Ask one judge about the answers of a task.

    Attributes:
        answered: the task.
    """

    def __init__(
        self,
        answered: AnsweredTask,
        judge: PlannedModel,
        questions: JudgeQuestions,
        folder: RunFolder,
        open_progress: OpenProgress,
        asking: AskingOptions,
    ) -> None:
        """Describe the work; nothing is opened yet.

        Args:
            answered: the task.
            judge: one of its judges.
            questions: what all of them are asked.
            folder: of the run.
            open_progress, asking: as for `TaskJob`.
        """
        own = replace(asking, retry_truncated=None)
        super().__init__(Task(judge, questions), folder.judge(answered.task.spec.model.abbr), open_progress, own)
        self.answered = answered

    @property
    def cache_name(self) -> str:
        """The questions about each model's answers are others, and are asked beside each other."""
        judged = self.answered.task.spec
        return f"{judged.dataset.abbr}@{judged.model.abbr}"

    @property
    def datasets(self) -> Sequence[PlannedDataset]:
        """The questions, and the dataset whose rows they show."""
        return (self.task.dataset, self.answered.task.dataset)


class JudgeQuestions(PlannedDataset):
    """The questions to judges about the answers of a task. Equal answers to one question are judged once.

    Args:
        task: whose answers are judged.
        answers_of: returns what the judges are asked.
    """

    def __init__(self, task: Task, answers_of: AnswersToJudge) -> None:
        judge = task.dataset.spec.eval.judge
        assert judge is not None
        super().__init__(judge_dataset(judge, task.dataset.spec))
        self._judged = task
        self._answers_of = answers_of

    @built_once
    def data(self) -> Dataset:
        """The answers that need a verdict, each with its row."""
        noted = self._answers_of(self._judged)
        # Predictions of version 1 know samples by their whole rows.
        rows = {name: row for row in self._judged.data.test for name in (row.row_id, row.id)} if noted else {}
        samples = [self._question(index, sample, rows) for index, sample in enumerate(noted)]
        return Dataset(train=(), test=samples, columns=tuple(samples[0].fields) if samples else (), tables={})

    def _question(self, index: int, asked: Question, rows: Mapping[str, Sample]) -> Sample:
        if asked.sample_id not in rows:
            raise DataError(
                f"the row of sample {asked.sample_id} is no longer in the data, and the judge's prompt needs it",
                where=self.spec.where,
                fix="score with the data that was asked about, and the same test_range",
            )
        row = rows[asked.sample_id]
        row_id = f"{row.row_id}{asked.id.removeprefix(asked.sample_id)}"
        return Sample(asked.id, index, {**row.fields, **asked.fields}, asked.gold, row_id=row_id)
