"""Compare two runs: which datasets changed, on which samples, by how much and why.

`compare_runs` pairs the tasks of two run folders; `compare` compares one pair, sample by sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.catalog import HOOKS, import_object
from ais_prompt.checks.stored import stored_spec
from ais_prompt.comparison.causes import Change, Share, changed_parts, divided, reported_difference, shares_left_out
from ais_prompt.comparison.scored_task import ScoredTask, clusters_of, with_common_names
from ais_prompt.config.parse.run import DEFAULT_WORK_DIR
from ais_prompt.config.paths import expand
from ais_prompt.errors import AisPromptError, ConfigError, DataError
from ais_prompt.metrics.aggregate import exact_mean
from ais_prompt.metrics.bootstrap import SumsDifference, sums_difference
from ais_prompt.metrics.difference import MeanDifference, mean_difference
from ais_prompt.metrics.paired import holm
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.results import check_scored
from ais_prompt.store.runs import locate_run, read_run_file
from ais_prompt.types import Prediction, TaskFacts
from ais_prompt.utils.text import listed


class StoredRun(Struct, frozen=True):
    """A run folder that was opened for reading.

    Attributes:
        folder: its folder.
        status: how it ended, as ``run.json`` has it.
        tasks: its tasks in order.
        trusted: whether this user made it here; else parts of its own have other names.
    """

    folder: RunFolder
    status: str
    tasks: tuple[ScoredTask, ...]
    trusted: bool = True

    @property
    def name(self) -> str:
        """The last two parts of its path, ``eval/20260131_235959Z``."""
        return "/".join(self.folder.root.parts[-2:])


class RunComparison(Struct, frozen=True):
    """Two runs.

    Attributes:
        before, after: the runs.
        comparisons: of each dataset that both have, with p-values corrected over all of them.
        notes: what a reader must know first: a run that is not finished, datasets that cannot be compared and why.
    """

    before: StoredRun
    after: StoredRun
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]


def read_stored_run(run: str, work_dir: str | None = None) -> StoredRun:
    """A run by its path, name or time, or the log of another tool by its path.

    Raises:
        ConfigError: there is no such run, or its config has faults.
        StoreError: its ``run.json`` is missing or broken.
    """
    return _stored_run(_located(run, work_dir))


def _located(run: str, work_dir: str | None) -> RunFolder:
    try:
        return locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    except ConfigError:
        if not Path(run).exists() or (log := import_object(HOOKS["open_log"])(Path(run))) is None:
            raise
        opened: RunFolder = log
        return opened


def _stored_run(folder: RunFolder, *, as_of_others: bool = False) -> StoredRun:
    spec = stored_spec(folder, as_of_others=as_of_others)
    record: Mapping[str, Any] = read_run_file(folder)
    facts = {name: TaskFacts.from_json(values) for name, values in record.get("tasks", {}).items()}
    versions = record.get("versions", {})
    tasks = [ScoredTask(task, folder, facts.get(task.name, TaskFacts()), versions) for task in spec.tasks]
    return StoredRun(folder, record.get("status", "unknown"), tuple(tasks), spec.trusted)


def compare_runs(before: StoredRun, after: StoredRun) -> RunComparison:
    """Compare two runs, dataset by dataset; what cannot be compared has a note that says why.

    Raises:
        ConfigError: one of them has no scores at all.
    """
    if before.trusted != after.trusted:  # else the same part would have two names
        before, after = (_stored_run(run.folder, as_of_others=True) for run in (before, after))
    for run in (before, after):
        check_scored(run.folder, [task.spec for task in run.tasks])
    pairs = pair_tasks(before, after)
    notes = [*_unfinished(before), *_unfinished(after), *_stopped(before), *_stopped(after)]
    if not pairs:
        names = " and ".join(listed(task.name for task in run.tasks) for run in (before, after))
        notes.append(f"the runs have no dataset in common: {names}")
    else:
        notes += _unpaired(before, after, pairs)
    found: list[Comparison] = []
    for old, new in pairs:
        try:
            found.append(compare(old, new))
        except AisPromptError as error:
            notes.append(f"{new.name} cannot be compared: {error}")
    corrected = holm({number: one.p for number, one in enumerate(found)})
    return RunComparison(
        before,
        after,
        tuple(adjusted(one, corrected[number]) for number, one in enumerate(found)),
        tuple(notes),
    )


def pair_tasks(before: StoredRun, after: StoredRun) -> list[tuple[ScoredTask, ScoredTask]]:
    """Return the tasks that both runs have: the same model and dataset, or the same dataset if each has one model."""
    first, second = _compared(before), _compared(after)
    by_name = any(len({task.model for task in tasks}) > 1 for tasks in (first, second))
    old = {_key(task, by_name): task for task in first}
    return [(old[key], task) for task in second if (key := _key(task, by_name)) in old]


def _compared(run: StoredRun) -> list[ScoredTask]:
    """Return the tasks of a run but for those that its other models are compared with, which have no scores."""
    return [task for task in run.tasks if not task.spec.is_reference]


def _unfinished(run: StoredRun) -> Iterator[str]:
    if run.status != "finished":
        yield f"{run.name} is not finished: it is {run.status}"


def _stopped(run: StoredRun) -> Iterator[str]:
    for task in run.tasks:
        facts = task.facts
        if facts.of is not None:
            yield f"{run.name}: of {task.name}, only {facts.samples} of {facts.of} samples were asked"


def _key(task: ScoredTask, by_name: bool) -> str:
    return task.name if by_name else task.dataset


def _unpaired(before: StoredRun, after: StoredRun, pairs: Sequence[tuple[ScoredTask, ScoredTask]]) -> list[str]:
    paired = {id(task) for pair in pairs for task in pair}
    return [
        f"only in {run.name}: {task.name}"
        for run in (before, after)
        for task in _compared(run)
        if id(task) not in paired
    ]


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
