"""What samples do to a difference that only one of two runs has, or has answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

import numpy as np

from ais_prompt.metrics.aggregate import exact_mean
from ais_prompt.metrics.distributions import t_quantile
from ais_prompt.metrics.interval import spread_of
from ais_prompt.regression.causes import Share
from ais_prompt.regression.scored_task import ScoredTask

FAILURES, OTHER_SAMPLES = "failures", "other samples"


def shares_left_out(before: ScoredTask, after: ScoredTask) -> Iterator[Share]:
    """Yield what makes the scores of the runs differ beside the samples that both have answered.

    A run's score is that of the samples it has answered. So failures count as far as the samples that only the other
    run has answered are easier or harder than the rest; and so do samples that only one run has.
    """
    both = before.predictions.keys() & after.predictions.keys()
    sides = [(task, set(task.values)) for task in (before, after)]
    common = sides[0][1] & sides[1][1]
    yield from _share(FAILURES, [(task, found & both, common) for task, found in sides])
    yield from _share(OTHER_SAMPLES, [(task, found, found & both) for task, found in sides])


def reported_difference(before: ScoredTask, after: ScoredTask) -> float:
    """Return by how much the scores of the runs differ, each of all samples that it has answered."""
    return _score(after, after.values.keys()) - _score(before, before.values.keys())


def _share(cause: str, sides: list[tuple[ScoredTask, set[str], set[str]]]) -> Iterator[Share]:
    """Yield what the samples that are in the first set of each side but not in the second do."""
    if all(whole == part for _, whole, part in sides):
        return
    value = 0.0
    deviations: defaultdict[str, float] = defaultdict(float)
    for sign, (task, whole, part) in zip((-1, 1), sides, strict=True):
        value += sign * (_score(task, whole) - _score(task, part))
        for weight, names in ((sign, whole), (-sign, part)):
            for name, deviation in _deviations(task.values, names).items():
                deviations[task.clusters.get(name, name)] += weight * deviation
    samples = len(set[str]().union(*(whole - part for _, whole, part in sides)))
    spread = spread_of(list(deviations.values())) if sides[0][0].corpus is None else None
    interval = None
    if spread is not None and spread.variance:
        half = t_quantile(0.975, spread.freedom or spread.units - 1) * spread.stderr
        interval = value - half, value + half
    yield Share(cause, value, samples, interval)


def _score(task: ScoredTask, names: Set[str]) -> float:
    if task.corpus is not None:
        return task.corpus.statistic(np.sum([task.rows[name] for name in sorted(names)], axis=0))
    return exact_mean([task.values[name] for name in sorted(names)])


def _deviations(values: Mapping[str, float], names: Set[str]) -> dict[str, float]:
    """Return what each sample adds to the error of the mean over these samples."""
    mean = exact_mean([values[name] for name in names])
    return {name: (values[name] - mean) / len(names) for name in names}
