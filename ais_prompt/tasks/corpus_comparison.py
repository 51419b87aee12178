"""Two runs of a data set whose metric is computed from sums over all samples, such as BLEU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.bootstrap import SumsDifference, sums_difference
from ais_prompt.metrics.difference import MeanDifference
from ais_prompt.tasks.changed_parts import same_extraction
from ais_prompt.tasks.scored_task import ScoredTask

CHANGED, UNCHANGED = "answers to changed prompts", "answers to the same prompts"

Rows: TypeAlias = Mapping[str, NDArray[np.float64]]
Metric: TypeAlias = Callable[[Rows], float]


class Share(Struct, frozen=True):
    """A part of the difference, and how many samples it comes from."""

    cause: str
    difference: float
    samples: int


class Numbers(Struct, frozen=True):
    """What is compared of the common samples: the metric of each run, their difference, its shares."""

    before: float
    after: float
    difference: MeanDifference | SumsDifference
    shares: tuple[Share, ...]


def same_prompt(before: ScoredTask, after: ScoredTask, name: str) -> bool:
    """Whether both runs sent the same for a sample."""
    return before.predictions[name].origin_prompt == after.predictions[name].origin_prompt


def clusters_of(task: ScoredTask, ids: Sequence[str]) -> list[str] | None:
    """Return the cluster of each sample, which is the sample itself if it has none; None if no sample has one."""
    found = task.clusters
    return [f"cluster {found[name]}" if name in found else name for name in ids] if found else None


def compare_corpus(before: ScoredTask, after: ScoredTask, ids: Sequence[str]) -> Numbers:
    """Compute the metric that the runs report from the samples that both have answered."""
    assert after.corpus is not None  # the caller has looked
    statistic = after.corpus.statistic

    def metric(rows: Rows) -> float:
        return statistic(_matrix(rows, ids).sum(axis=0))

    old, new = before.rows, after.rows
    found = sums_difference(_matrix(old, ids), _matrix(new, ids), statistic, clusters_of(after, ids))
    shares = tuple(_shares(before, after, ids, metric))
    return Numbers(metric(old), metric(new), found, shares)


def _matrix(rows: Rows, ids: Sequence[str]) -> NDArray[np.float64]:
    return np.array([rows[name] for name in ids])


def _shares(before: ScoredTask, after: ScoredTask, ids: Sequence[str], metric: Metric) -> Iterator[Share]:
    """The difference, divided as for means: between extraction and answers, and these between two kinds of prompts.

    Each cause has what it changes, as the mean over the orders in which the causes can come (the Shapley value).
    """
    old: Rows = before.rows
    new: Rows = after.rows
    pairs = [(old, new)]  # answers before and after, read in one way
    if not same_extraction(before.task.spec.dataset, after.task.spec.dataset):
        old_by_after, new_by_before = _filled(before, after, ids), _filled(after, before, ids)
        pairs = [(old, new_by_before), (old_by_after, new)]
        extraction = (metric(old_by_after) - metric(old) + metric(new) - metric(new_by_before)) / 2
        touched = sum(
            not (np.array_equal(old[name], old_by_after[name]) and np.array_equal(new[name], new_by_before[name]))
            for name in ids
        )
        yield Share("extraction", extraction, touched)
    same = {name for name in ids if same_prompt(before, after, name)}
    for cause, names in ((CHANGED, set(ids) - same), (UNCHANGED, same)):
        if names:
            parts = [_part(first, second, names, metric) for first, second in pairs]
            yield Share(cause, sum(parts) / len(parts), len(names))


def _filled(task: ScoredTask, other: ScoredTask, ids: Sequence[str]) -> Rows:
    """The rows of a run read as in the other; where only one of them can use the gold, as the other has them."""
    return {**{name: other.rows[name] for name in ids}, **task.rows_by(other, ids)}


def _part(old: Rows, new: Rows, names: set[str], metric: Metric) -> float:
    """What these samples do to the metric, as the mean over both orders: they change first, or last."""
    first = {name: new[name] if name in names else row for name, row in old.items()}
    last = {name: old[name] if name in names else row for name, row in new.items()}
    return (metric(first) - metric(old) + metric(new) - metric(last)) / 2
