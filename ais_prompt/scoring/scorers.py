"""Choose what scores the samples of a task: its evaluator, with what its answers need around it.

Scorer           one answer (`ais_prompt.scoring.scorer`)
JudgedScorer     one answer, with what a judge said of it
BatchScorer      one answer, after all answers were scored together (`ais_prompt.scoring.batch_scorer`)
RepeatScorer     several answers to one question, each by one of these (`ais_prompt.scoring.answers`)
DialogueScorer   the turns of a dialogue, each by one of the first two
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from ais_prompt.checks import check_k
from ais_prompt.evaluators import BatchEvaluator, Evaluator, JudgedBatchEvaluator, JudgeEvaluator
from ais_prompt.plan import PlannedDataset, Task, build_postprocessor
from ais_prompt.scoring.answers import DialogueScorer, RepeatScorer, single_answers
from ais_prompt.scoring.batch_scorer import (
    Answers,
    BatchScorer,
    BatchVerdicts,
    JudgedAnswers,
    answered,
    joint_verdict,
    judged,
)
from ais_prompt.scoring.judged_scorer import JudgedScorer, JudgementOf
from ais_prompt.scoring.scorer import Scorer
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.types import PartSpec, Prediction, SampleScore

AnyScorer: TypeAlias = Scorer | JudgedScorer | BatchScorer | DialogueScorer | RepeatScorer


def scorer_with_verdicts(task: Task, folder: RunFolder, evaluator: Evaluator, first: Prediction) -> AnyScorer:
    """Return the scorer of a task, with the stored verdicts of its judge if it has one."""
    judgement_of: JudgementOf | None = None
    if isinstance(evaluator, BatchEvaluator | JudgeEvaluator):
        from ais_prompt.judges import Verdicts

        verdicts = Verdicts(task, folder)
        judgement_of = verdicts.about
    if not isinstance(evaluator, BatchEvaluator):
        scorer = scorer_of(task, first, judgement_of)
        assert scorer is not None
        return scorer
    path = folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr)
    return batched(task, evaluator, first, read_predictions(path), verdicts.of)


def scorer_of(task: Task, first: Prediction, judgement_of: JudgementOf | None = None) -> AnyScorer | None:
    """Return the scorer of single samples; None without an evaluator, for one that needs all answers at once, or if a
    judge is needed and not given.

    Args:
        task: which model answered what.
        first: any of its predictions, which tells how many answers there are to each question.
        judgement_of: what the judge said.

    Raises:
        AisPromptError: it cannot be made.
    """
    evaluator = task.dataset.evaluator
    if evaluator is None or isinstance(evaluator, BatchEvaluator):
        return None
    reader = _reader(task, evaluator)
    if not isinstance(evaluator, JudgeEvaluator):
        return _whole_sample(task.dataset, reader, first)
    if judgement_of is None:
        return None
    return _whole_sample(task.dataset, JudgedScorer.of(reader, evaluator, judgement_of), first)


def _reader(task: Task, evaluator: Evaluator) -> Scorer:
    return Scorer(evaluator, task.dataset.answer_of, task.dataset.gold_of, task.text_of)


def scorer_with(
    task: Task, evaluator: Evaluator, first: Prediction
) -> Callable[[PartSpec], Callable[[Prediction], SampleScore]]:
    """Return what makes the scorer of a sample with another postprocessor."""
    reader = _reader(task, evaluator)

    def scorer_of(spec: PartSpec) -> Callable[[Prediction], SampleScore]:
        return _whole_sample(task.dataset, replace(reader, answer_of=build_postprocessor(spec)), first).score

    return scorer_of


def _whole_sample(dataset: PlannedDataset, one: Scorer | JudgedScorer | BatchScorer, first: Prediction) -> AnyScorer:
    """Return the scorer of a sample: by turns if each is asked, by answers if a question has several."""
    if dataset.has_turns:
        return one if isinstance(one, BatchScorer) else DialogueScorer(one)
    repeats = repeats_of(first)
    check_k(dataset.spec.eval, repeats)
    return RepeatScorer(one, repeats, dataset.spec.eval.k, dataset.repeat_evaluator) if repeats > 1 else one


def repeats_of(prediction: Prediction) -> int:
    """Return how many answers a question has that is not a dialogue."""
    # A list may also be one answer: the probabilities of choices.
    return len(prediction.completions) if isinstance(prediction.prediction, list) else 1


def answers_of(
    task: Task, evaluator: BatchEvaluator, first: Prediction, predictions: Iterable[Prediction]
) -> list[Answers]:
    """Return all answers of a task as an evaluator gets them that scores them together.

    Args:
        task: which model answered what.
        evaluator: of its dataset.
        first: any of its predictions.
        predictions: all of them, with their prompts.

    Raises:
        AisPromptError: its parts cannot be made.
    """
    reader = replace(_reader(task, evaluator), evaluator=BatchVerdicts())
    whole = _whole_sample(task.dataset, BatchScorer(reader, BatchVerdicts()), first)
    n = whole.n if isinstance(whole, RepeatScorer) else 1

    def singles(prediction: Prediction) -> Iterator[Prediction]:
        return single_answers(prediction, n) if n > 1 else iter([prediction])

    return answered(reader, predictions, singles, task)


def batched(
    task: Task,
    evaluator: BatchEvaluator,
    first: Prediction,
    predictions: Iterable[Prediction],
    said_of: Callable[[str], Sequence[Prediction]],
) -> AnyScorer:
    """Return the scorer of a sample, after all of them were scored together.

    Raises:
        AisPromptError: they cannot be scored.
    """
    found = [
        judged(one, evaluator, said_of) if isinstance(evaluator, JudgedBatchEvaluator) else [JudgedAnswers(one)]
        for one in answers_of(task, evaluator, first, predictions)
    ]
    judges = [judge.spec.abbr for judge in task.dataset.judges]
    joint = [joint_verdict([evaluator.score_all(one.answers.batch) for one in each], judges) for each in found]
    verdicts = BatchVerdicts(joint, [each[0] for each in found], judges if len(judges) > 1 else (), evaluator.metrics)
    reader = replace(_reader(task, evaluator), evaluator=BatchVerdicts())
    return _whole_sample(task.dataset, BatchScorer(reader, verdicts), first)
