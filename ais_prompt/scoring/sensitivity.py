"""Score a task with every plausible postprocessor, to see whether the score depends on how answers are read."""

from __future__ import annotations

import inspect
import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.errors import AisPromptError
from ais_prompt.metrics import mean_scores
from ais_prompt.plan import build_postprocessor
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import OtherReading, PartSpec, Prediction, SampleScore, Sensitivity

MOST: Final = 1_000
"""Samples that are read again; of more, so many are drawn, always the same ones."""
SEED: Final = 0

OPTIONS: Final = ("first_option_postprocess", "last_option_postprocess")
NUMBERS: Final = ("gsm8k_postprocess", "math_postprocess_v2")
PLAUSIBLE: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys((*OPTIONS, "first_capital_postprocess", "last_capital_postprocess"), OPTIONS),
    **dict.fromkeys(("first-capital", "last-capital"), OPTIONS),
    **dict.fromkeys((*NUMBERS, "first_number_postprocess"), NUMBERS),
}
"""Configured postprocessor → those that could be in its place: of options, and of numbers and mathematics."""

ScorerOf: TypeAlias = Callable[[PartSpec], Callable[[Prediction], SampleScore]]
"""Makes what scores one sample with a postprocessor."""


class BestReading(Struct, frozen=True):
    """The postprocessor that gives the highest score.

    Attributes:
        spec: the postprocessor.
        score: mean of the main metric.
        samples, of: number of samples that were read again, and number of samples that could be.
    """

    spec: PartSpec
    score: float
    samples: int
    of: int


def others_than(spec: PartSpec | None) -> list[PartSpec]:
    """Return the postprocessors that could replace the configured one.

    Arguments such as ``options`` go along where they are understood. There is none for a postprocessor of the user's
    own, nor for one of texts and programs.
    """
    if spec is None:
        return []
    own = getattr(POSTPROCESSORS.get(spec.type), "variant_of", spec.type)
    names = [name for name in PLAUSIBLE.get(own, ()) if name != spec.type]
    return [PartSpec(name, _understood(name, spec.args), spec.where) for name in names]


def find_sensitivity(
    configured: PartSpec, predictions: Iterator[Prediction], count: int, scorer_of: ScorerOf, metric: str
) -> Sensitivity | None:
    """Score a task again with other postprocessors; None if there is none, or no sample can be read again.

    Args:
        configured: the postprocessor of the dataset.
        predictions: of the task, as many as ``count``.
        count: how many samples there are.
        scorer_of: as in `ScorerOf`.
        metric: the main metric of the evaluator.
    """
    specs = [configured, *others_than(configured)]
    if len(specs) == 1:
        return None
    rows = _read(specs, predictions, count, scorer_of, metric)
    if len(rows) < 2:
        return None
    own, *others = zip(*rows, strict=True)
    found = [
        OtherReading(spec.type, statistics.fmean(values), sum(a != b for a, b in zip(own, values, strict=True)))
        for spec, values in zip(specs[1:], others, strict=True)
    ]
    best = 1.0 if all(0 <= value <= 1 for value in own) else None
    [mean] = mean_scores((metric,), (SampleScore("", "scored", values={metric: value}) for value in own), best)
    return Sensitivity(configured.type, statistics.fmean(own), mean.stderr or 0.0, len(rows), count, tuple(found))


def best_extractor(
    specs: Sequence[PartSpec], predictions: Iterator[Prediction], count: int, scorer_of: ScorerOf, metric: str
) -> BestReading | None:
    """Return which postprocessor gives the highest score, the first of equal ones; None if no sample can be read.

    Args:
        specs: the postprocessors to try.
        predictions, count, scorer_of, metric: as for `sensitivity`.
    """
    rows = _read(specs, predictions, count, scorer_of, metric)
    if not rows:
        return None
    means = [statistics.fmean(values) for values in zip(*rows, strict=True)]
    best = max(range(len(specs)), key=means.__getitem__)
    return BestReading(specs[best], means[best], len(rows), count)


def warning_of(found: Sensitivity, *, fraction: bool, lower_is_better: bool = False) -> str | None:
    """Say which postprocessors give a better score; None if none is more than a standard error better.

    Those that give a worse score find fewer of the answers, about which nothing is to be done.
    """
    if not (better := [other for other in found.far if (other.score < found.score) == lower_is_better]):
        return None
    scale, unit = (100, " points") if fraction else (1, "")
    far = [
        f"{other.postprocessor} {scale * (other.score - found.score):+.1f}{unit} ({other.changed} samples)"
        for other in better
    ]
    drawn = "" if found.samples == found.of else f" of {found.of:,}, drawn at random"
    return (
        f"the score is {'lower' if lower_is_better else 'higher'} if answers are read in another way: "
        f"{', '.join(far)}; {found.postprocessor} has "
        f"{scale * found.score:.1f} with a standard error of {scale * found.stderr:.1f} "
        f"({found.samples:,} samples{drawn})"
    )


def _read(
    specs: Sequence[PartSpec], predictions: Iterator[Prediction], count: int, scorer_of: ScorerOf, metric: str
) -> list[list[float]]:
    """Return the values of each sample, or of `MOST` samples drawn at random, with each postprocessor."""
    drawn = set(random.Random(SEED).sample(range(count), MOST)) if count > MOST else None
    scorers = [scorer_of(spec) for spec in specs]
    rows: list[list[float]] = []
    for number, prediction in enumerate(predictions):
        if (drawn is None or number in drawn) and (row := _values(scorers, prediction, metric)):
            rows.append(row)
    return rows


def _values(
    scorers: Sequence[Callable[[Prediction], SampleScore]], prediction: Prediction, metric: str
) -> list[float] | None:
    """Return the value of a sample with each postprocessor; None if it failed, or its gold is unusable."""
    try:
        samples = [scorer(prediction) for scorer in scorers]
    except AisPromptError:
        return None
    return None if samples[0].status == "failed" else [sample.values.get(metric, 0.0) for sample in samples]


def _understood(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(build_postprocessor(PartSpec(name, {}, ""))).parameters
    return {key: value for key, value in args.items() if key in parameters}
