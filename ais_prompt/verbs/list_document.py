"""What ``list`` prints with ``--json``. Apart from its command, which imports little."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ais_prompt.types import Document


class ListDocument(Document, kw_only=True):
    """What ``list`` prints; kinds that were not asked for are missing.

    Attributes:
        configs: ``models`` and ``datasets`` → configs that can be named.
        found: ``models``, ``datasets`` and ``summarizers`` → configs that a pattern found.
        benchmarks: questions that extensions know by name.
        providers: of models.
        parts: kind → registered parts.
    """

    kind: Literal["list"]
    configs: dict[str, list[Named]] = field(default_factory=dict)
    found: dict[str, list[FoundConfig]] = field(default_factory=dict)
    benchmarks: list[BenchmarkEntry] = field(default_factory=list)
    providers: list[ProviderEntry] = field(default_factory=list)
    parts: dict[str, list[Named]] = field(default_factory=dict)


class Named(Struct, frozen=True):
    """A name, and what it means: the summary of a config, the module of a part."""

    name: str
    about: str


class FoundConfig(Struct, frozen=True):
    """A config that a pattern found: the name for the command line, the summary of the file, and its path."""

    name: str
    about: str
    path: str


class ProviderEntry(Struct, frozen=True):
    """A provider of models: its address, the variable of its key, and the API that it speaks."""

    name: str
    base_url: str
    key: str
    api: str


class BenchmarkEntry(Struct, frozen=True):
    """A benchmark: what it tests, its number of questions, and whether its data are on this machine (``here``)."""

    name: str
    tests: str
    size: int
    language: str
    licence: str
    here: bool
