"""Find what is known to fail at scoring, before anything is asked: predictions and golds that an evaluator cannot use.

Only shipped evaluators are looked at: those of users are called with ordinary answers by ``check``.
"""

from __future__ import annotations

from ais_prompt.errors import AisPromptError, ConfigError, DataError, MissingGoldError
from ais_prompt.evaluators import BatchEvaluator, Evaluator, JudgeEvaluator, OwnEvaluator, ScoresMeasures
from ais_prompt.parts import RunsPrograms, part_class
from ais_prompt.plan import PlannedDataset
from ais_prompt.registry import POSTPROCESSORS, is_shipped


def check_scorable(dataset: PlannedDataset) -> None:
    """Raise an error if it is known that no sample of a dataset can be scored.

    Raises:
        ConfigError: its evaluator cannot read what its inferencer predicts.
        DataError: its evaluator can use no gold; ``where`` is the first row.
    """
    try:
        evaluator = dataset.evaluator
    except AisPromptError:  # `check_eval` says so
        return
    # Evaluators that get all answers at once may read anything; judges and programs are too costly to try.
    if isinstance(evaluator, BatchEvaluator | JudgeEvaluator | RunsPrograms | OwnEvaluator):
        return
    if evaluator is not None and is_shipped(part_class(evaluator)):
        _check_predictions(dataset, evaluator)
        _check_golds(dataset, evaluator)


def _check_predictions(dataset: PlannedDataset, evaluator: Evaluator) -> None:
    inferencer = dataset.inferencer
    # A postprocessor may bring them together.
    if dataset.spec.eval.pred_postprocessor is not None or not is_shipped(part_class(inferencer)):
        return
    from ais_prompt.inferencers import CLPInferencer

    kind, name = part_class(evaluator).__name__, part_class(inferencer).__name__
    if isinstance(inferencer, CLPInferencer):
        raise ConfigError(
            f"CLPInferencer predicts a list of probabilities, and {kind} compares one answer",
            fix="use ChoicesInferencer, which predicts the likeliest choice, or an evaluator of your own for the list",
        )
    if isinstance(evaluator, ScoresMeasures) and name != evaluator.measured_by:
        raise ConfigError(
            f"{kind} scores what {evaluator.measured_by} measures, and {name} predicts something else",
            fix=f"use {evaluator.measured_by}, or another evaluator",
        )


def _check_golds(dataset: PlannedDataset, evaluator: Evaluator) -> None:
    part = dataset.spec.eval.dataset_postprocessor
    # Turns have a list of golds, and a part of a user that ends its process must not end the run.
    if dataset.has_turns or (part is not None and not is_shipped(POSTPROCESSORS.get(part.type))):
        return
    first: DataError | None = None
    for row in dataset.data.test:
        try:
            evaluator.score(None, dataset.gold_of(row.gold))
        except MissingGoldError:  # it fails alone
            continue
        except DataError as error:
            error.where = error.where or f"row {row.index}"
            first = first or error
            continue
        except Exception:  # what an evaluator of ours makes of no answer says nothing of the gold
            return
        return
    if first is not None:
        raise first
