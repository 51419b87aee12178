"""What the samples of a task add up to."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.report.html.run_files import ShownTask

UNITS: Final = ("tokens", "characters")
"""What the length of answers is counted in."""


class TaskTotals:
    """What the overview says of one task: counts, and a few bytes for each sample.

    Attributes:
        seconds: how long each answer took; samples without one are left out.
        trouble: why samples are missing; empty if none are.
        sensitivity: from `sensitivity_of`.
    """

    def __init__(self, task: ShownTask) -> None:
        self.seconds = array("d")
        self.trouble = ""
        self.sensitivity: Mapping[str, Any] | None = None
        self._task = task
        self._samples = 0
        self._states: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._tokens = array("d")
        self._characters = array("d")
        self._tokens_known = True

    def add(self, row: Mapping[str, Any]) -> None:
        """Take one more line of the table."""
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
        """One of `UNITS`: characters if the tokens of an answer are not known."""
        return "tokens" if self._tokens_known else "characters"

    @property
    def lengths(self) -> Sequence[float]:
        """Of the answers, in that unit."""
        return self._tokens if self._tokens_known else self._characters

    def to_json(self) -> dict[str, Any]:
        """Names and counts."""
        return {
            "model": self._task.model,
            "dataset": self._task.dataset,
            "trouble": self.trouble,
            "unit": self.unit,
            "samples": self._samples,
            "states": self._states,
            "reasons": self._reasons,
            "sensitivity": self.sensitivity,
        }
