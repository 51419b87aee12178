"""Find what is known to fail before anything is asked: media that cannot be sent, answers that cannot be scored.

Only shipped evaluators are looked at: those of users are called with ordinary answers by ``check``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ais_prompt.errors import AisPromptError, ConfigError, DataError, MissingGoldError, PromptError
from ais_prompt.evaluators import BatchEvaluator, Evaluator, JudgeEvaluator, OwnEvaluator, ScoresMeasures
from ais_prompt.models import MediaModel, Model
from ais_prompt.parts import RunsPrograms, part_class
from ais_prompt.plan import PlannedDataset
from ais_prompt.prompts import PromptBuilder, check_taken
from ais_prompt.registry import POSTPROCESSORS, is_shipped
from ais_prompt.types import Sample
from ais_prompt.utils import check_part


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


def taken_kinds(model: Model, prompts: PromptBuilder, *, offline: bool = False) -> Collection[str] | None:
    """Return the media that a model takes; None if only its server knows, or no prompt has media.

    Raises:
        ModelError, MissingExtra: as `MediaModel.media_kinds`.
    """
    if not prompts.may_hold_media or not isinstance(model, MediaModel):
        return None
    return model.media_kinds(offline=offline)


def check_media(
    prompts: PromptBuilder,
    samples: Iterable[Sample],
    shown: Iterable[Sample] = (),
    kinds: Collection[str] | None = None,
) -> None:
    """Check that every image, audio and video can be sent. Nothing is downloaded.

    Args:
        prompts: makes the prompts of the samples.
        samples: the questions.
        shown: the rows that are shown as examples.
        kinds: what the model takes; None leaves that to the model.

    Raises:
        DataError: some cannot: how many, and what is wrong with the first.
        PromptError: the model does not take what a sample shows.
    """
    if not prompts.may_hold_media:
        return
    faults = chain(
        _media_faults(samples, prompts.media, "sample", kinds),
        _media_faults(shown, prompts.example_media, "example", kinds),
    )
    if (first := next(faults, None)) is None:
        return
    if more := sum(1 for _ in faults):
        what = f"{1 + more} samples have media that cannot be sent; the first: {first.what}"
        raise DataError(what, where=first.where, fix=first.fix)
    raise first


def _media_faults(
    samples: Iterable[Sample],
    media: Callable[[Sample], Sequence[Mapping[str, Any]]],
    name: str,
    kinds: Collection[str] | None,
) -> Iterator[AisPromptError]:
    """Yield at most one fault of the media of each sample."""
    for sample in samples:
        try:
            parts = media(sample)
        except (DataError, PromptError):  # no prompt can be made of this row, which fails
            continue
        try:
            for part in parts:
                check_part(part)
                if kinds is not None:
                    check_taken(part, kinds)
        except AisPromptError as error:
            error.where = error.where or f"{name} {sample.id}, row {sample.index}"
            yield error
