"""What ``labels`` prints with ``--json``."""

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
