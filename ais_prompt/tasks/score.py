"""Scoring of one task: predictions on disk become scores on disk, without asking a model."""

from __future__ import annotations

from collections.abc import Iterator

from ais_prompt.inferencers import DialogueInferencer
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.predictions import read_predictions
from ais_prompt.store.results import write_results
from ais_prompt.tasks.build import build_evaluator, build_inferencer, build_postprocessor
from ais_prompt.tasks.dialogue_scorer import DialogueScorer
from ais_prompt.tasks.scorer import Scorer
from ais_prompt.types import DatasetSpec, Prediction, Score, TaskSpec


def score(task: TaskSpec, folder: RunFolder) -> list[Score]:
    """Score the predictions of a task and write its results; no scores if the data set has no evaluator.

    Raises:
        AisPromptError: predictions are missing or broken, or a sample cannot be scored.
    """
    scorer = _scorer(task.dataset)
    if scorer is None:
        return []
    samples = [scorer.score(prediction) for prediction in _predictions(task, folder)]
    scores = scorer.aggregate(samples)
    names = {"model": task.model.abbr, "dataset": task.dataset.abbr}
    head = {**names, "scores": [score.to_json() for score in scores]}
    write_results(folder.results(*names.values()), head, (sample.to_json() for sample in samples))
    return scores


def _scorer(dataset: DatasetSpec) -> Scorer | DialogueScorer | None:
    """What scores a sample, by turns if each turn is asked; None if the data set has no evaluator."""
    evaluator = build_evaluator(dataset)
    if evaluator is None:
        return None
    spec = dataset.eval
    scorer = Scorer(
        evaluator, build_postprocessor(spec.pred_postprocessor), build_postprocessor(spec.dataset_postprocessor)
    )
    inferencer = build_inferencer(dataset)
    by_turn = isinstance(inferencer, DialogueInferencer) and inferencer.asks_every_turn
    return DialogueScorer(scorer) if by_turn else scorer


def _predictions(task: TaskSpec, folder: RunFolder) -> Iterator[Prediction]:
    return read_predictions(folder.predictions(task.model.abbr, task.dataset.abbr))
