"""How the tasks of a run ended, as its document tells it. Unlike the document it needs no comparison of runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from ais_prompt.errors import Paused
from ais_prompt.scoring import TaskOutcome
from ais_prompt.types import Fault
from ais_prompt.verbs.documents import faults


class TaskEnd(Struct, frozen=True):
    """How a task ended: with scores, with predictions only, paused, or failed and why."""

    model: str
    dataset: str
    state: Literal["scored", "predictions", "paused", "failed"]
    error: Fault | None = None


def task_ends(outcomes: Iterable[TaskOutcome]) -> list[TaskEnd]:
    """Return how tasks ended."""
    return [
        TaskEnd(one.model, one.dataset, _state(one), faults(one.error)[0] if one.error else None) for one in outcomes
    ]


def _state(outcome: TaskOutcome) -> Literal["scored", "predictions", "paused", "failed"]:
    if outcome.error is not None:
        return "paused" if isinstance(outcome.error, Paused) else "failed"
    return "scored" if outcome.scores else "predictions"
