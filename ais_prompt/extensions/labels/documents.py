"""What ``labels`` and ``judge-check`` print with ``--json``."""

from __future__ import annotations

from typing import Literal, TypedDict

from msgspec import field

from ais_prompt.types import Document


class LabelledTask(TypedDict):
    """The labels of a task; ``corrected`` is the share of right answers, with both ends of its interval."""

    task: str
    people: dict[str, int]
    agreed: int
    disagreed: int
    alpha: float | None
    corrected: tuple[float, float, float] | None
    next_right: int
    next_wrong: int


class LabelsDocument(Document, kw_only=True):
    """What ``labels`` prints.

    Attributes:
        folder: of the run.
        tasks: one entry for each task with labels.
        files: those that ``-o`` wrote.
    """

    kind: Literal["labels"]
    folder: str = ""
    tasks: list[LabelledTask] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


class MeasuredJudge(TypedDict):
    """A judge against labels of people: shares with their 95 % intervals, null if unknown."""

    run: str
    task: str
    labelled: int
    unjudged: int
    score: float
    sensitivity: list[float] | None
    specificity: list[float] | None
    kappa: list[float] | None
    corrected: list[float] | None


class JudgeCheckDocument(Document, kw_only=True):
    """What ``judge-check`` prints; each measure is the value and both ends of its interval.

    Attributes:
        judges: one entry for each judge.
        alpha: Krippendorff's alpha of several judges; null for one, or if nothing varies.
    """

    kind: Literal["judge-check"]
    judges: list[MeasuredJudge] = field(default_factory=list)
    alpha: float | None = None
