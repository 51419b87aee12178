"""What the report shows before any sample is unpacked: the run, the scores, and what the answers are like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.report.html.distribution import distributions
from ais_prompt.report.html.finite import finite_json
from ais_prompt.report.html.totals import UNITS, TaskTotals
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.run_file import read_run_file


def overview(folder: RunFolder, rows: Sequence[Mapping[str, Any]], tasks: Sequence[TaskTotals]) -> dict[str, Any]:
    """The overview of a run as JSON values with finite numbers.

    Args:
        folder: of the run.
        rows: the lines of its summary.
        tasks: those with samples.

    Raises:
        StoreError: the record of the run cannot be read.
    """
    record = read_run_file(folder)
    with reading(folder.config_file, fix="give the run's command again with -m viz -r"):
        config = folder.config_file.read_text("utf-8", "replace")
    noted = {name: facts.get("speed") for name, facts in record.get("tasks", {}).items()}
    values = {
        "name": folder.root.resolve().parent.name,
        "time": folder.root.resolve().name,
        "status": record.get("status", ""),
        "sessions": record.get("sessions", []),
        "versions": record.get("versions", {}),
        "speeds": {name: speed for name, speed in noted.items() if speed},
        "config": config,
        "scores": list(rows),
        "tasks": [task.to_json() for task in tasks],
        "lengths": {
            unit: distributions([task.lengths if task.unit == unit else () for task in tasks]) for unit in UNITS
        },
        "seconds": distributions([task.seconds if any(task.seconds) else () for task in tasks]),
    }
    facts: dict[str, Any] = finite_json(values)
    return facts
