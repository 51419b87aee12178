"""Compare two runs, or two models of one run: which datasets changed, on which samples, by how much and why.

A side is a stored run, or one model of it. `open_sides` opens both; `compare_runs` pairs their tasks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.comparison.compared_task import Comparison, compare
from ais_prompt.comparison.differences import Difference, adjusted, mean_differences, members_of
from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.config import DEFAULT_WORK_DIR, expand
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.extension import REINSTALL, missing_extension
from ais_prompt.plan import stored_spec, with_model
from ais_prompt.steps import step
from ais_prompt.store import RunFolder, check_scored, locate_run, read_run_file, runs_called
from ais_prompt.types import SummaryGroup, TaskFacts
from ais_prompt.utils import counted, listed

NAMED: Final = 3
"""Models or datasets that a note names."""


class StoredRun(Struct, frozen=True):
    """A run folder that was opened for reading, or one model of it.

    Attributes:
        folder: its folder.
        status: how it ended, as ``run.json`` has it.
        tasks: its tasks in order, those of ``model`` only if there is one.
        trusted: whether this user made it here; else parts of its own have other names.
        groups: of its summary.
        model: ``abbr`` of the only model that was opened; None for all.
    """

    folder: RunFolder
    status: str
    tasks: tuple[ScoredTask, ...]
    trusted: bool = True
    groups: tuple[SummaryGroup, ...] = ()
    model: str | None = None

    @property
    def name(self) -> str:
        """The last two parts of its path, ``eval/20260131_235959Z``."""
        return "/".join(self.folder.root.parts[-2:])

    @property
    def models(self) -> list[str]:
        """The models with scores, in order."""
        return list(dict.fromkeys(task.model for task in self.tasks if not task.spec.is_reference))


class RunComparison(Struct, frozen=True):
    """Two runs, or two models of one run.

    Attributes:
        before, after: the runs.
        comparisons: of each dataset that both have, with p-values corrected over all of them.
        notes: what a reader must know first: a run that is not finished, datasets that cannot be compared and why.
        means: the mean difference of each model over all datasets, and over each group of the summary.
        groups: name of each group → its datasets.
        further_means: as ``means``, of the scores of each further evaluator; their metric is ``NAME.mean``.
    """

    before: StoredRun
    after: StoredRun
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    means: tuple[Difference, ...] = ()
    groups: Mapping[str, frozenset[str]] = {}
    further_means: tuple[Difference, ...] = ()

    @property
    def names(self) -> tuple[str, str]:
        """What is compared with what: two runs, or two models of one."""
        sides = (self.before, self.after)
        if self.before.folder.root == self.after.folder.root and self.before.model and self.after.model:
            return self.before.model, self.after.model
        first, second = (f"{side.name} {side.model}" if side.model else side.name for side in sides)
        return first, second


def open_sides(
    before: str, after: str | None = None, models: Sequence[str] = (), work_dir: str | None = None
) -> tuple[StoredRun, StoredRun]:
    """Open what is compared.

    Args:
        before, after: runs by path, name or time. Without ``after`` and ``models``, a name means its last two runs, and
            any other run its two models.
        models: one model of both runs, or a model of each: its ``abbr``, or a part that no other model has. A run with
            two models needs none to be compared with itself.
        work_dir: where run folders are; ``outputs`` if left out.

    Raises:
        ConfigError: there is no such run or model, or nothing to compare with.
        StoreError: a ``run.json`` is missing or broken.
    """
    if len(models) > 2:
        raise ConfigError(f"{len(models)} models are given", where="--models", fix="give one or two")
    named = runs_called(expand(work_dir or DEFAULT_WORK_DIR), before)
    runs = [run for run in named if any(run.glob("results/*/*.json"))]
    if after is None and not models and len(runs) > 1:
        return read_stored_run(str(runs[-2]), work_dir), read_stored_run(str(runs[-1]), work_dir)
    if after is None and len(models) < 2:
        has = read_stored_run(before, work_dir).models
        if models or len(has) != 2:
            fix = f"name a second run, or two of its models: --models ONE OTHER; it has: {listed(has)}"
            raise ConfigError("there is nothing to compare the run with", where=before, fix=fix)
        models = has
    first, second = (models[0], models[-1]) if models else (None, None)
    return read_stored_run(before, work_dir, first), read_stored_run(after or before, work_dir, second)


def read_stored_run(run: str, work_dir: str | None = None, model: str | None = None) -> StoredRun:
    """A run by its path, name or time, or the log of another tool by its path; with ``model`` only that model of it.

    Raises:
        ConfigError: there is no such run or model, or the config of the run has faults.
        StoreError: its ``run.json`` is missing or broken.
    """
    try:
        folder = locate_run(expand(work_dir or DEFAULT_WORK_DIR), run)
    except ConfigError as error:
        path = Path(run)
        open_log = step("open_log") if path.exists() else None
        log = None if open_log is None else open_log(path)
        if log is None:
            if path.exists() and (owner := missing_extension("open_log")):
                error.fix = f"if it is a log, the extension {owner!r} reads it, and is not here: {REINSTALL}"
            raise
        folder = log
    return _stored_run(folder, model)


def _stored_run(folder: RunFolder, model: str | None, *, as_of_others: bool = False) -> StoredRun:
    spec = with_model(stored_spec(folder, as_of_others=as_of_others), model)
    record: Mapping[str, Any] = read_run_file(folder)
    facts = {name: TaskFacts.from_json(values) for name, values in record.get("tasks", {}).items()}
    versions = record.get("versions", {})
    tasks = [ScoredTask(task, folder, facts.get(task.name, TaskFacts()), versions) for task in spec.tasks]
    return StoredRun(
        folder,
        record.get("status", "unknown"),
        tuple(tasks),
        spec.trusted,
        spec.summary.groups,
        spec.models[0].abbr if model else None,
    )


def compare_runs(before: StoredRun, after: StoredRun) -> RunComparison:
    """Compare two runs, dataset by dataset; what cannot be compared has a note that says why.

    Raises:
        ConfigError: one of them has no scores at all.
    """
    before, after = with_equal_trust(before, after)
    for run in (before, after):
        check_scored(run.folder, [task.spec for task in run.tasks])
    pairs = pair_tasks(before, after)
    notes = [*_unfinished(before), *_unfinished(after), *_stopped(before), *_stopped(after)]
    if not pairs:
        names = " and ".join(listed((task.name for task in run.tasks), NAMED) for run in (before, after))
        notes.append(f"the runs have no dataset in common: {names}")
    else:
        notes += _unpaired(before, after, pairs)
    found: list[Comparison] = []
    by_evaluator: dict[str, list[Comparison]] = {"": []}
    faults: defaultdict[str, list[str]] = defaultdict(list)
    for old, new in [*pairs, *chain(*map(_further_pairs, pairs))]:
        try:
            found.append(compare(old, new))
            by_evaluator.setdefault(new.evaluator, []).append(found[-1])
        except AisPromptError as error:
            where = "" if error.where == new.name else error.where
            faults[" · ".join(filter(None, (error.what, where, error.fix)))].append(new.name)
    notes += [f"{listed(names, NAMED)} cannot be compared: {fault}" for fault, names in faults.items()]
    return RunComparison(
        before,
        after,
        tuple(adjusted(found)),
        tuple(dict.fromkeys(notes)),
        tuple(mean_differences(by_evaluator.pop(""), after.groups)),
        members_of(after.groups),
        tuple(
            replace(mean, metric=f"{name}.{mean.metric}")
            for name, each in by_evaluator.items()
            for mean in mean_differences(each, after.groups)
        ),
    )


def with_equal_trust(before: StoredRun, after: StoredRun) -> tuple[StoredRun, StoredRun]:
    """Return the runs read as if others had made both, if others made one; else the same part would have two names."""
    if before.trusted == after.trusted:
        return before, after
    first, second = (_stored_run(run.folder, run.model, as_of_others=True) for run in (before, after))
    return first, second


def pair_tasks(before: StoredRun, after: StoredRun) -> list[tuple[ScoredTask, ScoredTask]]:
    """Return the tasks that both runs have: the same model and dataset, or the same dataset if each has one model.

    Tools name datasets differently: if one side is a log, and one has only one task, that is paired with all others.
    """
    first, second = _compared(before), _compared(after)
    by_name = _by_name(before, after)
    old = {_key(task, by_name): task for task in first}
    found = [(old[key], task) for task in second if (key := _key(task, by_name)) in old]
    if not found and 1 in (len(first), len(second)) and any(task.is_log for task in (*first, *second)):
        return list(product(first, second))
    return found


def _further_pairs(pair: tuple[ScoredTask, ScoredTask]) -> list[tuple[ScoredTask, ScoredTask]]:
    """Return the scores of each further evaluator that both runs of a dataset have."""
    before, after = pair
    old = {task.evaluator: task for task in before.further}
    return [(old[task.evaluator], task) for task in after.further if task.evaluator in old]


def _compared(run: StoredRun) -> list[ScoredTask]:
    """Return the tasks of a run but for those that its other models are compared with, which have no scores."""
    return [task for task in run.tasks if not task.spec.is_reference]


def _unfinished(run: StoredRun) -> Iterator[str]:
    if run.status != "finished":
        yield f"{run.name} is not finished: it is {run.status}"


def _stopped(run: StoredRun) -> Iterator[str]:
    partly = [task for task in run.tasks if task.facts.of is not None]
    if partly:
        names = listed((f"{task.name} {task.facts.samples} of {task.facts.of}" for task in partly), NAMED)
        yield f"{run.name}: not every sample was asked of {counted(len(partly), 'task')}: {names}"


def _by_name(before: StoredRun, after: StoredRun) -> bool:
    """Return whether tasks are paired by model and dataset: by the dataset alone, if each run has one model."""
    return len(before.models) > 1 or len(after.models) > 1


def _key(task: ScoredTask, by_name: bool) -> str:
    return task.name if by_name else task.dataset


def _unpaired(before: StoredRun, after: StoredRun, pairs: Sequence[tuple[ScoredTask, ScoredTask]]) -> Iterator[str]:
    """Yield a line for each run: its models and datasets that the other lacks, and its other tasks."""
    paired = {id(task) for pair in pairs for task in pair}
    for run, other in ((before, after), (after, before)):
        left = [task for task in _compared(run) if id(task) not in paired]
        known = {task.dataset for task in _compared(other)}
        absent = set(run.models) - set(other.models) if _by_name(before, after) else set[str]()
        models = dict.fromkeys(task.model for task in left if task.model in absent)
        rest = [task for task in left if task.model not in models]
        datasets = dict.fromkeys(task.dataset for task in rest if task.dataset not in known)
        tasks = [task.name for task in rest if task.dataset in known]
        parts = [
            f"{counted(len(names), noun)} ({listed(names, NAMED)})"
            for noun, names in (("model", models), ("dataset", datasets), ("task", tasks))
            if names
        ]
        if parts:
            yield f"only in {run.name}: {', '.join(parts)}"
