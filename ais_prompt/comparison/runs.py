"""Comparison of two runs: which datasets changed, on which samples, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ais_prompt.checks.stored import stored_spec
from ais_prompt.comparison.comparison import Comparison, adjusted, compare
from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.config.parse.run import DEFAULT_WORK_DIR
from ais_prompt.config.paths import expand
from ais_prompt.errors import AisPromptError
from ais_prompt.metrics.paired import holm
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.results import check_scored
from ais_prompt.store.runs import locate_run, read_run_file
from ais_prompt.types import TaskFacts
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
    """A run by its path, name or time.

    Raises:
        ConfigError: there is no such run, or its config has faults.
        StoreError: its ``run.json`` is missing or broken.
    """
    return _stored_run(locate_run(expand(work_dir or DEFAULT_WORK_DIR), run))


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
    return [task for task in run.tasks if not task.spec.is_baseline]


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
