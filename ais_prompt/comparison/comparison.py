"""Compare two runs of one dataset, sample by sample: the difference, its interval and its causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.comparison.causes import Change, Share, changed_parts, divided, reported_difference, shares_left_out
from ais_prompt.comparison.scored_task import ScoredTask, clusters_of, with_common_names
from ais_prompt.errors import DataError
from ais_prompt.metrics.aggregate import exact_mean
from ais_prompt.metrics.bootstrap import SumsDifference, sums_difference
from ais_prompt.metrics.difference import MeanDifference, mean_difference
from ais_prompt.types import Prediction


class Flip(Struct, frozen=True):
    """A sample whose value changed.

    Attributes:
        sample_id, index: as in `ais_prompt.types.Sample`.
        before, after: its values.
        same_prompt: whether both runs sent the same.
        predictions: the two answers, whole.
        extracted: what was read out of each.
    """

    sample_id: str
    index: int
    before: float
    after: float
    same_prompt: bool
    predictions: tuple[Prediction, Prediction]
    extracted: tuple[Any, Any]


class Comparison(Struct, frozen=True):
    """Two runs of one dataset.

    Attributes:
        model: abbr of the model, or ``before → after`` if these differ.
        dataset: abbr of the dataset.
        metric: the main metric.
        fraction: whether its values are parts of 1.
        common: samples that both runs have answered; all numbers are computed from these.
        only_before, only_after: samples that only one run has.
        failed_before, failed_after: common samples without an answer, which are left out.
        before, after: the two scores.
        differences: ``after`` less ``before`` of each common sample.
        interval: 95 % confidence interval of the difference; None if unknown.
        p: how likely so large a difference is if there is none; below 5 % exactly where ``interval`` leaves out 0.
        units: independent units among the samples: these, or clusters of them.
        p_adjusted: the same after Holm's correction over all datasets.
        flips: samples whose value changed, those that became worse first.
        shares: the causes of the reported difference; they add up to it.
        changes: the parts that differ.
        reported: by how much the scores of the runs differ, each of all samples that it has answered.
    """

    model: str
    dataset: str
    metric: str
    fraction: bool
    common: int
    only_before: int
    only_after: int
    failed_before: int
    failed_after: int
    before: float
    after: float
    differences: tuple[float, ...]
    interval: tuple[float, float] | None
    p: float
    units: int
    flips: tuple[Flip, ...]
    shares: tuple[Share, ...]
    changes: tuple[Change, ...]
    reported: float
    p_adjusted: float = 1.0

    @property
    def difference(self) -> float:
        """``after`` less ``before``."""
        return self.after - self.before

    @property
    def worse(self) -> int:
        """How many samples became worse."""
        return sum(difference < 0 for difference in self.differences)

    @property
    def better(self) -> int:
        """How many samples became better."""
        return sum(difference > 0 for difference in self.differences)


def compare(before: ScoredTask, after: ScoredTask) -> Comparison:
    """Compare two runs of a dataset on the samples that both have answered.

    Raises:
        DataError: they have no such sample, or different metrics.
        StoreError: results or predictions are missing or broken.
    """
    metric = after.metric
    if metric.metric != before.metric.metric:
        raise DataError(
            f"the runs have different metrics: {before.metric.metric} and {metric.metric}",
            where=after.name,
            fix="score one of them again with the other's config: aisprompt score RUN --config CONFIG",
        )
    before, after = with_common_names(before, after)
    old, new = before.values, after.values
    ids = [name for name in before.predictions if name in old and name in new]
    if not ids:
        raise DataError(
            "the runs have no answered sample in common",
            where=after.name,
            fix="were they made with the same data? Samples are paired by their input columns"
            + (", or as in one of these runs, which version 1 made, by the whole row" if before.by_row else ""),
        )
    before.check_comparable()
    after.check_comparable()
    differences = tuple(new[name] - old[name] for name in ids)
    score_before, score_after, found = _difference(before, after, ids)
    both = before.predictions.keys() & after.predictions.keys()
    changes = changed_parts(before, after)
    return Comparison(
        model=_joined(before.model, after.model),
        dataset=after.dataset,
        metric=metric.metric,
        fraction=metric.fraction,
        common=len(ids),
        only_before=len(before.predictions) - len(both),
        only_after=len(after.predictions) - len(both),
        failed_before=len(both - old.keys()),
        failed_after=len(both - new.keys()),
        before=score_before,
        after=score_after,
        differences=differences,
        interval=found.interval,
        p=found.p,
        units=found.units,
        flips=tuple(_flips(before, after, ids, differences)),
        shares=(*divided(before, after, ids), *shares_left_out(before, after)),
        changes=tuple(changes),
        reported=reported_difference(before, after),
    )


def adjusted(comparison: Comparison, p_adjusted: float) -> Comparison:
    """Return the comparison with its corrected p-value."""
    return replace(comparison, p_adjusted=p_adjusted)


def _difference(
    before: ScoredTask, after: ScoredTask, ids: Sequence[str]
) -> tuple[float, float, MeanDifference | SumsDifference]:
    """Return both scores of these samples, and what is known of their difference."""
    clusters = clusters_of(after, ids)
    if before.corpus is None or after.corpus is None:
        old, new = ([task.values[name] for name in ids] for task in (before, after))
        differences = [second - first for first, second in zip(old, new, strict=True)]
        return exact_mean(old), exact_mean(new), mean_difference(differences, clusters, before.best and after.best)
    first, second = (np.array([task.rows[name] for name in ids]) for task in (before, after))
    scores = before.corpus.statistic(first.sum(axis=0)), after.corpus.statistic(second.sum(axis=0))
    return *scores, sums_difference(first, second, after.corpus.statistic, clusters)


def _joined(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _flips(before: ScoredTask, after: ScoredTask, ids: Sequence[str], differences: Sequence[float]) -> list[Flip]:
    old, new = before.values, after.values
    read_before, read_after = before.extracted, after.extracted
    changed = sorted((difference, number) for number, difference in enumerate(differences) if difference)
    return [
        Flip(
            sample_id=after.predictions[name := ids[number]].sample_id,
            index=before.predictions[name].index,
            before=old[name],
            after=new[name],
            same_prompt=before.predictions[name].origin_prompt == after.predictions[name].origin_prompt,
            predictions=(before.predictions[name], after.predictions[name]),
            extracted=(read_before.get(name), read_after.get(name)),
        )
        for _, number in changed
    ]
