"""What ``run``, ``score`` and ``merge`` print with ``--json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, convert, field

from ais_prompt.comparison import DifferenceEntry
from ais_prompt.engine import RequestEstimate
from ais_prompt.scoring import Row
from ais_prompt.types import Document, Used, Verdict
from ais_prompt.verbs.documents import TaskEnd


class RunDocument(Document, kw_only=True):
    """What ``run``, ``score`` and ``merge`` print.

    Attributes:
        folder: the run folder; None if none was made.
        tasks: how each task ended.
        scores: the rows of the summary, as in ``summary.json``.
        gates: the verdict of each gate.
        asked, failed: samples in all, and those that failed.
        reasons: why answers failed → how many of them.
        used: what this session asked.
        isolation: task → how the programs of its answers were kept apart from the machine.
        differences: of the two models of a run, of each dataset and of the means over datasets.
        estimates: what each task would ask, with ``--dry-run``.
    """

    kind: Literal["run", "score", "merge"]
    folder: str | None = None
    tasks: list[TaskEnd] = field(default_factory=list)
    scores: list[Row] = field(default_factory=list)
    gates: list[Verdict] = field(default_factory=list)
    asked: int = 0
    failed: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    used: Used = Used()
    isolation: dict[str, str] = field(default_factory=dict)
    differences: list[DifferenceEntry] = field(default_factory=list)
    estimates: list[TaskEstimate] = field(default_factory=list)


class TaskEstimate(Struct, frozen=True):
    """What a task would ask at most, without the tokens of judges; costs are None without a price.

    ``batch_part`` is the part of the costs that batches take; None if it is not known. ``is_least`` tells of an agent:
    it may ask more, since what it asks is known only when it runs.
    """

    task: str
    samples: int
    requests: int
    input_tokens: int
    output_tokens: int
    least_cost: float | None = None
    most_cost: float | None = None
    judge_requests: int = 0
    batch_part: float | None = None
    is_least: bool = False


def task_estimates(found: Sequence[RequestEstimate]) -> list[TaskEstimate]:
    """Return what tasks would ask."""
    return convert(found, list[TaskEstimate], from_attributes=True)
