"""Compare the loads of two runs, task by task, for `aisprompt compare`."""

from __future__ import annotations

from pathlib import Path

from ais_prompt.comparison import FurtherComparison, ScoredTask, StoredRun, pair_tasks
from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.documents import LoadComparison


def compare_load_runs(before: StoredRun, after: StoredRun) -> FurtherComparison | None:
    """Compare the tasks that both runs have measured under load; None if no task was.

    Raises:
        StoreError: a schedule or journal cannot be read.
    """
    pairs = [pair for pair in pair_tasks(before, after) if all(_schedule(task).exists() for task in pair)]
    if not pairs:
        return None
    from ais_prompt.extensions.perf.compared_loads import compare_loads
    from ais_prompt.extensions.perf.load_files import read_load

    found: dict[str, LoadComparison] = {}
    notes = []
    for pair in pairs:
        try:
            found[pair[1].name] = compare_loads(
                *(read_load(_schedule(one), one.folder.journal(one.model, one.dataset)) for one in pair)
            )
        except DataError as error:
            notes.append(f"{pair[1].name} cannot be compared: {error.what}; {error.fix}")
    return FurtherComparison(
        fields={"loads": found, "load_notes": notes}, show=lambda: _show(found, notes), is_empty=not found
    )


def _schedule(task: ScoredTask) -> Path:
    return task.folder.load_file(task.model, task.dataset, "_schedule.jsonl")


def _show(found: dict[str, LoadComparison], notes: list[str]) -> None:
    from rich.console import Console

    from ais_prompt.cli.verb import echo
    from ais_prompt.extensions.perf.compared_loads import print_load_comparison

    for note in notes:
        echo(f"Note: {note}")
    for task, comparison in found.items():
        print_load_comparison(task, comparison, Console())
        echo()
