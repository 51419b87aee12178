"""Paired differences of scores: of one dataset, and of the mean over several.

`score_difference` needs the scores of the samples only; `mean_differences` combines what it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.comparison.scored_task import ScoredTask, clusters_of, have_one_metric
from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.metrics import (
    LEVEL,
    MeanDifference,
    SumsDifference,
    exact_mean,
    holm,
    max_t,
    mean_difference,
    mean_of_differences,
    sums_difference,
    with_zero,
)
from ais_prompt.store import RunFolder
from ais_prompt.types import SummaryGroup, TaskSpec

Adjusted = TypeVar("Adjusted", bound="Difference")


class Difference(Struct, frozen=True, kw_only=True):
    """By how much two scores differ, on the samples that both have answered.

    Attributes:
        model: abbr of the model, or ``before → after`` if these differ.
        dataset: abbr of the dataset; of a mean, the name of the group, or empty for all datasets.
        metric: the main metric; of a mean, ``mean``.
        fraction: whether its values are parts of 1.
        lower_is_better: whether less of the metric is better.
        common: samples that both have answered; all numbers are computed from these.
        before, after: the two scores.
        interval: 95 % confidence interval of the difference; None if unknown.
        p: how likely so large a difference is if there is none; below 5 % exactly where ``interval`` leaves out 0.
        p_adjusted: the p-value after Holm's correction: of a dataset over all datasets, of a mean over all means.
        units: independent units among the samples: these, or clusters of them.
        datasets: how many datasets it is the mean of.
        found: the difference with its uncertainty; None if unknown.
        questions: each common sample, or its cluster, and its difference.
    """

    model: str
    dataset: str
    metric: str
    fraction: bool
    common: int
    before: float
    after: float
    interval: tuple[float, float] | None
    p: float
    units: int
    datasets: int = 1
    found: MeanDifference | SumsDifference | None = None
    p_adjusted: float = 1.0
    questions: tuple[tuple[str, float], ...] = ()
    lower_is_better: bool = False

    @property
    def difference(self) -> float:
        """``after`` less ``before``."""
        return self.after - self.before

    @property
    def gain(self) -> float:
        """By how much ``after`` is better: the difference, or its opposite where less is better."""
        return -self.difference if self.lower_is_better else self.difference

    @property
    def worse(self) -> int:
        """How many samples became worse."""
        return sum(one > 0 if self.lower_is_better else one < 0 for _, one in self.questions)

    @property
    def better(self) -> int:
        """How many samples became better."""
        return sum(one < 0 if self.lower_is_better else one > 0 for _, one in self.questions)

    def interval_at(self, level: float) -> tuple[float, float] | None:
        """Return the interval with confidence ``1 - level``; None if unknown."""
        return None if self.found is None else self.found.interval_at(level)


def score_difference(before: ScoredTask, after: ScoredTask) -> Difference:
    """Return the difference of two scores of a dataset; samples are paired by their ids.

    Raises:
        DataError: they have no answered sample in common, or different metrics.
        StoreError: results are missing or broken.
    """
    metric = after.metric
    if not have_one_metric(before, after):
        raise DataError(
            f"the runs have different metrics: {before.metric.metric} and {metric.metric}",
            where=after.name,
            fix="score one of them again with the other's config: aisprompt score RUN --config CONFIG",
        )
    ids = common_ids(before, after)
    if not ids:
        raise DataError(
            "the runs have no answered sample in common",
            where=after.name,
            fix="were they made with the same data? Samples are paired by their input columns"
            + (", or as in one of these runs, which version 1 made, by the whole row" if before.by_row else ""),
        )
    before.check_comparable()
    after.check_comparable()
    clusters = clusters_of(after, ids)
    found: MeanDifference | SumsDifference
    old, new = ([task.values[name] for name in ids] for task in (before, after))
    differences = [second - first for first, second in zip(old, new, strict=True)]
    if before.corpus is None or after.corpus is None:
        scores = exact_mean(old), exact_mean(new)
        found = mean_difference(differences, clusters, before.best and after.best)
    else:
        first, second = (np.array([task.rows[name] for name in ids]) for task in (before, after))
        scores = before.corpus.statistic(first.sum(axis=0)), after.corpus.statistic(second.sum(axis=0))
        found = sums_difference(first, second, after.corpus.statistic, clusters)
    return Difference(
        model=before.model if before.model == after.model else f"{before.model} → {after.model}",
        dataset=after.dataset,
        metric=metric.metric if metric.metric == before.metric.metric else f"{before.metric.metric} → {metric.metric}",
        fraction=metric.fraction,
        common=len(ids),
        before=scores[0],
        after=scores[1],
        interval=found.interval,
        p=found.p,
        units=found.units,
        found=found,
        questions=tuple(zip(clusters or ids, differences, strict=True)),
        lower_is_better=bool(metric.lower_is_better),
    )


def common_ids(before: ScoredTask, after: ScoredTask) -> list[str]:
    """Return the samples that both have answered, in their order."""
    return [name for name in before.values if name in after.values]


def mean_differences(found: Sequence[Difference], groups: Sequence[SummaryGroup]) -> list[Difference]:
    """Return the mean difference over all datasets of each model, and over each group that has not all of them.

    Each dataset has the same weight, as in the average of a group. A mean needs two datasets, all with percentages of
    which more is better, or less.

    Args:
        found: of datasets.
        groups: of the summary; groups with a score that is no average are left out.
    """
    members = members_of(groups)
    means: list[Difference] = []
    for model in dict.fromkeys(one.model for one in found):
        own = [one for one in found if one.model == model]
        means += _mean("", own)
        for name, datasets in members.items():
            part = [one for one in own if one.dataset in datasets]
            means += _mean(name, part) if len(part) < len(own) else ()
    return adjusted(means)


def adjusted(found: Sequence[Adjusted]) -> list[Adjusted]:
    """Return differences with p-values that are corrected over all of them."""
    corrected = holm({number: one.p for number, one in enumerate(found)})
    return [replace(one, p_adjusted=corrected[number]) for number, one in enumerate(found)]


def members_of(groups: Sequence[SummaryGroup]) -> dict[str, frozenset[str]]:
    """Return each group with an average, in order, and all its datasets; a group may contain earlier groups."""
    members: dict[str, frozenset[str]] = {}
    for group in groups:
        parts = (members.get(entry.name, {entry.name}) for entry in group.subsets)
        members[group.name] = frozenset[str]().union(*parts)
    return {group.name: members[group.name] for group in groups if group.kind == "average"}


def intervals_together(found: Sequence[Difference]) -> list[tuple[Difference, tuple[float, float] | None]]:
    """Return differences with intervals that hold all together in 95 % of cases; None where one is unknown.

    Source: Dunn 1961, "Multiple Comparisons Among Means" (Bonferroni's inequality).
    """
    return [(one, one.interval_at(LEVEL / len(found))) for one in found]


def differences_together(found: Sequence[Difference]) -> list[tuple[Difference, tuple[float, float] | None, float]]:
    """Return differences of means with max-T intervals that hold all together, and p-values; None if unknown.

    No p-value is below that of the difference alone. Metrics computed from sums, such as BLEU, are left out: they are
    no means over questions.

    Source: as for `ais_prompt.metrics.max_t`.
    """
    means = [one for one in found if isinstance(one.found, MeanDifference)]
    joint = max_t([one.questions for one in means])
    both = zip(means, joint.intervals, joint.p_values, strict=True)
    return [(one, with_zero(interval, one.p, LEVEL), max(p, one.p)) for one, interval, p in both]


def _mean(name: str, parts: Sequence[Difference]) -> Iterator[Difference]:
    means = [part.found for part in parts if isinstance(part.found, MeanDifference) and part.fraction]
    if not len(parts) == len(means) >= 2 or len({part.lower_is_better for part in parts}) > 1:
        return
    mean = mean_of_differences(means, [part.questions for part in parts])
    yield Difference(
        model=parts[0].model,
        dataset=name,
        metric="mean",
        fraction=True,
        common=sum(part.common for part in parts),
        before=exact_mean([part.before for part in parts]),
        after=exact_mean([part.after for part in parts]),
        interval=mean.interval,
        p=mean.p,
        units=mean.units,
        datasets=len(parts),
        found=mean,
        questions=tuple(question for part in parts for question in part.questions),
        lower_is_better=parts[0].lower_is_better,
    )


def model_differences(
    folder: RunFolder, tasks: Sequence[TaskSpec], groups: Sequence[SummaryGroup] = ()
) -> list[Difference]:
    """Return the differences of a run with exactly two models: of each dataset that both have scores of, and the means.

    Empty for any other number of models. Datasets that cannot be compared are left out, and those of which not every
    sample was asked: where asking ended depends on the answers.
    """
    scored = [task for task in tasks if task.is_scored and not task.is_reference]
    models = list(dict.fromkeys(task.model.abbr for task in scored))
    if len(models) != 2:
        return []
    before, after = (
        {task.dataset.abbr: ScoredTask(task, folder) for task in scored if task.model.abbr == model} for model in models
    )
    found = []
    for dataset, task in before.items():
        with suppress(AisPromptError):  # of a task that failed the summary has a note
            if dataset in after and task.metric.of is None and after[dataset].metric.of is None:
                found.append(score_difference(task, after[dataset]))
    return [*adjusted(found), *mean_differences(found, groups)]
