"""The answers of a task that a judge has to rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from ais_prompt.errors import DataError, PartError
from ais_prompt.evaluators.base import JudgedBatchEvaluator
from ais_prompt.plan.judges import ShownAnswer, baseline_answers, judge_fields, pair_fields, shown_answer
from ais_prompt.plan.plan import Task
from ais_prompt.scoring.answer_batches import batch_question_id
from ais_prompt.scoring.judges.verdicts import ORDERS, Question, Replies, question_id
from ais_prompt.scoring.score import answers_of, scorer_of
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
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
    baseline = baseline_answers(task, folder) if task.spec.baseline is not None else None

    def note(sample: SampleScore, prediction: Prediction) -> list[Replies]:
        for name, fields in _shown(sample, prediction, baseline):
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
    sample: SampleScore, prediction: Prediction, baseline: Callable[[str, int], ShownAnswer | None] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and columns of each question about an answer; none if there is nothing to compare it with."""
    own = shown_answer(sample.extracted, prediction.origin_prompt)
    if baseline is None:
        yield question_id(sample, prediction.earlier), judge_fields({}, own, sample.gold)
    elif (other := baseline(sample.sample_id, len(prediction.earlier))) is not None:
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
