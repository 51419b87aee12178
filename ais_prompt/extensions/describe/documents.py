"""What ``describe`` prints with ``--json``."""

from __future__ import annotations

from typing import Literal, TypedDict

from msgspec import field

from ais_prompt.types import Document


class ArgumentEntry(TypedDict):
    """An argument, key or option: its default as it is written, empty if there is nothing to say."""

    name: str
    kind: str
    default: str
    meaning: str


class DescribedEntry(TypedDict):
    """What the reference says of a name; ``facts`` are further pairs of a title and a text."""

    name: str
    group: str
    kind: str
    summary: str
    text: str
    arguments: list[ArgumentEntry]
    usage: str
    also: list[str]
    facts: list[tuple[str, str]]


class DescribeDocument(Document, kw_only=True):
    """What ``describe`` prints.

    Attributes:
        entries: all things of that name.
    """

    kind: Literal["describe"]
    entries: list[DescribedEntry] = field(default_factory=list)
