"""What the report shows before any sample is unpacked: the run, the scores, and what the answers are like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ais_prompt.report.html.distribution import distributions
from ais_prompt.report.html.finite import finite_json
from ais_prompt.report.html.run_files import ShownTask
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.results import read_json

UNITS: Final = ("tokens", "characters")
"""What the length of answers is counted in."""


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What the overview says of one task.

    Attributes:
        values: names and counts, as JSON values.
        unit: what ``lengths`` counts, one of `UNITS`.
        lengths, seconds: of the answers; samples without one are left out.
    """

    values: Mapping[str, Any]
    unit: str
    lengths: Sequence[float]
    seconds: Sequence[float]


def task_facts(task: ShownTask, columns: Mapping[str, Sequence[Any]], unit: str, trouble: str) -> TaskFacts:
    """Sum up a task.

    Args:
        task: which one.
        columns: the table of its samples.
        unit: what the column ``length`` counts.
        trouble: why samples are missing; empty if none are.
    """
    values = {
        "model": task.model,
        "dataset": task.dataset,
        "trouble": trouble,
        "unit": unit,
        "samples": len(columns["id"]),
        "states": Counter(columns["state"]),
        "reasons": Counter(reason for reason in columns["reason"] if reason),
    }
    return TaskFacts(values, unit, _known(columns["length"]), _known(columns["seconds"]))


def overview(folder: RunFolder, rows: Sequence[Mapping[str, Any]], tasks: Sequence[TaskFacts]) -> dict[str, Any]:
    """The overview of a run as JSON values with finite numbers.

    Args:
        folder: of the run.
        rows: the lines of its summary.
        tasks: those with samples.

    Raises:
        StoreError: the record of the run cannot be read.
    """
    record = read_json(folder.run_file)
    with reading(folder.config_file, mend="give the run's command again with -m viz -r"):
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
        "tasks": [task.values for task in tasks],
        "lengths": {
            unit: distributions([task.lengths if task.unit == unit else () for task in tasks]) for unit in UNITS
        },
        "seconds": distributions([task.seconds if any(task.seconds) else () for task in tasks]),
    }
    facts: dict[str, Any] = finite_json(values)
    return facts


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]
