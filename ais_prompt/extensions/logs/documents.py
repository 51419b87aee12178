"""What ``import --json`` and ``explain --json`` print."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from msgspec import field

from ais_prompt.types import Document
from ais_prompt.verbs import TaskEstimate


class ImportedTaskEntry(TypedDict):
    """One task of a log: numbers of samples, and metric → score in the log, as the other tool reports it."""

    name: str
    samples: int
    failed: int
    scores: dict[str, float]


class ImportDocument(Document, kw_only=True):
    """What ``import`` prints.

    Attributes:
        folder: the run folder.
        tasks: what is in it.
        notes: what a reader must know.
    """

    kind: Literal["import"]
    folder: str | None = None
    tasks: list[ImportedTaskEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class ExplanationEntry(TypedDict):
    """Why two scores of a dataset differ; the page on logs of other tools explains the fields."""

    sentence: str
    before: dict[str, Any]
    after: dict[str, Any]
    difference: float
    pairing: dict[str, Any]
    steps: list[dict[str, Any]]
    rules: list[str]
    scores_by_rule: list[list[float | None]]
    unknown: list[str]
    requests: dict[str, Any]
    asked: dict[str, Any] | None


class ExplainDocument(Document, kw_only=True):
    """What ``explain`` prints.

    Attributes:
        notes: what cannot be explained, and why.
        explanations: of each dataset that both logs have.
        estimates: what each task would ask, with ``--ask``.
    """

    kind: Literal["explain"]
    estimates: list[TaskEstimate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    explanations: list[ExplanationEntry] = field(default_factory=list)
