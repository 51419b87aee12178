"""What the report shows before any sample is unpacked: the run, the scores, and lengths and times of the answers."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from ais_prompt.report.formats import precision_notes
from ais_prompt.report.web.breakdown import Breakdowns
from ais_prompt.report.web.long_contexts import Context, context_samples, long_contexts
from ais_prompt.report.web.packing import finite_json
from ais_prompt.report.web.run_files import ShownTask
from ais_prompt.scoring.rows import Row
from ais_prompt.store.disk import reading
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.runs import read_run_file
from ais_prompt.types import SampleScore, TaskFacts

UNITS: Final = ("tokens", "characters")
"""Units of the length of answers."""
BINS: Final = 40
"""Maximum number of bins."""
_WIDE: Final = 20
"""The axis is logarithmic if the largest value is more than this many times the median."""


class TaskTotals:
    """Totals of one task for the overview: counts, and a few bytes for each sample.

    Attributes:
        task: whose samples they are.
        trouble: why samples are missing; empty if none are.
        sensitivity: the scores under other postprocessors; None if there are none.
        seconds: how long each answer took; samples without one are left out.
        breakdowns: None until the metric of the task is known.
        is_whole: set when all samples are added; breakdowns are left out before, since they take long.
    """

    def __init__(self, task: ShownTask) -> None:
        self.trouble = ""
        self.sensitivity: Mapping[str, Any] | None = None
        self.breakdowns: Breakdowns | None = None
        self.is_whole = False
        self.task = task
        self._samples = 0
        self._states: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self.seconds = array("d")
        self._tokens = array("d")
        self._characters = array("d")
        self._tokens_known = True

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a line of the table."""
        self._samples += 1
        self._states[row["state"]] += 1
        if row["reason"]:
            self._reasons[row["reason"]] += 1
        self._tokens_known &= row["tokens"] is not None or row["characters"] is None
        for name, values in (("tokens", self._tokens), ("characters", self._characters), ("seconds", self.seconds)):
            if row[name] is not None:
                values.append(row[name])

    @property
    def unit(self) -> str:
        """One of `UNITS`: characters if the tokens of an answer are unknown."""
        return "tokens" if self._tokens_known else "characters"

    @cached_property
    def _whole_breakdowns(self) -> list[dict[str, Any]]:
        return self.breakdowns.to_json() if self.breakdowns else []

    @property
    def lengths(self) -> Sequence[float]:
        """Lengths of the answers, in `unit`."""
        return self._tokens if self._tokens_known else self._characters

    @property
    def contexts(self) -> Mapping[Context, Sequence[SampleScore]]:
        """The samples, if they are those of a `RulerDataset`."""
        return context_samples(self.breakdowns) if self.breakdowns else {}

    def to_json(self) -> dict[str, Any]:
        """Return what the overview shows of the samples so far."""
        return {
            "model": self.task.model,
            "dataset": self.task.dataset,
            "trouble": self.trouble,
            "unit": self.unit,
            "samples": self._samples,
            "states": self._states,
            "reasons": self._reasons,
            "sensitivity": self.sensitivity,
            "columns": self.breakdowns.filters() if self.breakdowns else {},
            "breakdowns": self._whole_breakdowns if self.is_whole else [],
        }


def overview(folder: RunFolder, rows: Sequence[Row], tasks: Sequence[TaskTotals]) -> dict[str, Any]:
    """Return the overview of a run as JSON values with finite numbers.

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
    facts = {name: TaskFacts.from_json(values) for name, values in record.get("tasks", {}).items()}
    values = {
        "name": folder.root.resolve().parent.name,
        "time": folder.root.resolve().name,
        "status": record.get("status", ""),
        "sessions": record.get("sessions", []),
        "versions": record.get("versions", {}),
        "speeds": {name: task.speed.to_json() for name, task in facts.items() if task.speed},
        "config": config,
        "scores": [row.to_json() for row in rows],
        "precision": precision_notes(rows),
        "tasks": [task.to_json() for task in tasks],
        "long_contexts": long_contexts([(task.task.model, task.contexts) for task in tasks]),
        "lengths": {
            unit: distributions([task.lengths if task.unit == unit else () for task in tasks]) for unit in UNITS
        },
        "seconds": distributions([task.seconds if any(task.seconds) else () for task in tasks]),
    }
    found: dict[str, Any] = finite_json(values)
    return found


def distributions(groups: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return one histogram for each group, as JSON values.

    Args:
        groups: values >= 0 of each task; a task may have none.

    Returns:
        ``edges`` of the bins, one more than there are bins, and empty if there are no values (bins of whole numbers
        begin and end at whole numbers); ``groups``, each with
        ``counts`` (one for each bin), ``median`` and ``p95``, or None where there are no values.
    """
    edges = _edges(sorted(value for group in groups for value in group))
    return {"edges": edges, "groups": [_distribution(sorted(group), edges) if group else None for group in groups]}


def _edges(values: Sequence[float]) -> list[float]:
    """Return bins of equal width, or of equal ratio if a few values are far above the others."""
    if not values:
        return []
    high = values[-1] or 1.0
    if high <= _WIDE * _quantile(values, 0.5):
        if all(float(value).is_integer() for value in values):
            width = math.ceil((high + 1) / BINS)
            return [float(edge) for edge in range(0, int(high) + width + 1, width)]
        return [high * step / BINS for step in range(BINS + 1)]
    # Values below a ten-thousandth of the largest fall into the first bin.
    low = max(next((value for value in values if value > 0), high), high / 1e4)
    low = min(low, high / 10)
    return [low * (high / low) ** (step / BINS) for step in range(BINS + 1)]


def _distribution(values: Sequence[float], edges: Sequence[float]) -> dict[str, Any]:
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[min(max(bisect_right(edges, value) - 1, 0), len(counts) - 1)] += 1
    return {"counts": counts, "median": _quantile(values, 0.5), "p95": _quantile(values, 0.95)}


def _quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of sorted values by nearest rank."""
    return values[max(0, -int(-share * len(values) // 1) - 1)]
