"""Compare the loads of two runs, task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ais_prompt.comparison import ScoredTask, StoredRun, pair_tasks
from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.compared_loads import LoadComparison, compare_loads
from ais_prompt.extensions.perf.load_files import read_load


class ComparedLoads(Struct, frozen=True):
    """The loads of two runs.

    Attributes:
        tasks: ``model/dataset`` of the second run → its comparison.
        notes: why tasks cannot be compared.
    """

    tasks: Mapping[str, LoadComparison]
    notes: Sequence[str]


def compare_load_runs(before: StoredRun, after: StoredRun) -> ComparedLoads | None:
    """Compare the tasks that both runs have measured under load; None if no task was.

    Raises:
        StoreError: a schedule or journal cannot be read.
    """
    pairs = [pair for pair in pair_tasks(before, after) if all(_schedule(task).exists() for task in pair)]
    if not pairs:
        return None
    found: dict[str, LoadComparison] = {}
    notes = []
    for pair in pairs:
        try:
            found[pair[1].name] = compare_loads(
                *(read_load(_schedule(one), one.folder.journal(one.model, one.dataset)) for one in pair)
            )
        except DataError as error:
            notes.append(f"{pair[1].name} cannot be compared: {error.what}; {error.fix}")
    return ComparedLoads(found, notes)


def _schedule(task: ScoredTask) -> Path:
    return task.folder.load_file(task.model, task.dataset, "_schedule.jsonl")
