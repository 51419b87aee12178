"""What ``merge`` and ``status`` print with ``--json``."""

from __future__ import annotations

from typing import Literal, TypedDict

from msgspec import field

from ais_prompt.types import Document
from ais_prompt.verbs import RunDocument as MergeDocument

__all__ = ["MergeDocument", "StatusDocument"]


class ShardEntry(TypedDict):
    """The latest session of a shard; without a session it is missing."""

    shard: str
    state: str
    answered: int
    host: str | None
    start: str | None


class StatusDocument(Document, kw_only=True):
    """What ``status`` prints.

    Attributes:
        folder: the run folder.
        shards: in order; empty for a run without shards.
        lines: what it says to people.
    """

    kind: Literal["status"]
    folder: str | None = None
    shards: list[ShardEntry] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
