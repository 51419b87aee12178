"""What ``--json`` prints: one document on standard output, whose schema is in ``docs/schemas``.

The document of a verb is beside what the verb does, except for that of ``list``: its command imports little. Extensions
add documents, and fields to those of the core.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec import Struct, field

from ais_prompt.errors import AisPromptError, Paused, faults_of
from ais_prompt.extension import VerbEntry, all_of, import_object
from ais_prompt.secrets import SECRETS
from ais_prompt.steps import extensions, installed_entry
from ais_prompt.types import Document, Fault

if TYPE_CHECKING:
    from ais_prompt.scoring import TaskOutcome

_OWN: Final[Mapping[str, str]] = {
    "run": "ais_prompt.verbs.run_document:RunDocument",
    "score": "ais_prompt.verbs.run_document:RunDocument",
    "check": "ais_prompt.verbs.check:CheckDocument",
    "list": "ais_prompt.verbs.documents:ListDocument",
    "compare": "ais_prompt.comparison.document:CompareDocument",
    "baseline": "ais_prompt.gates.baseline:BaselineDocument",
}
"""Verb of the core → ``module:name`` of its document, without what extensions add."""


@cache
def document_of(verb: str) -> type[Document] | None:
    """Return the class of the document of a verb, with the fields that extensions add to it; None if it has none."""
    own = _own(verb)
    further = [import_object(one.documents[verb]) for one in extensions() if verb in one.documents]
    if own is None or not further:
        return own
    fields: list[Any] = [
        (one.name, one.type, _default(one)) for added in further for one in msgspec.structs.fields(added)
    ]
    texts = [inspect.getdoc(own) or "", *((inspect.getdoc(one) or "").partition("Attributes:\n")[2] for one in further)]
    names = {"__doc__": "\n".join(texts)}
    made: Any = msgspec.defstruct(own.__name__, fields, bases=(own,), kw_only=True, namespace=names)
    return made  # type: ignore[no-any-return]


def _own(verb: str) -> type[Document] | None:
    if (home := _OWN.get(verb)) is None:
        entry: VerbEntry | None = all_of("verbs").get(verb) or installed_entry("verbs", verb)
        home = entry.document if entry else ""
    found: type[Document] | None = import_object(home) if home else None
    return found


def _default(of: msgspec.structs.FieldInfo) -> Any:
    made = of.default_factory is not msgspec.NODEFAULT
    return field(default_factory=of.default_factory) if made else field(default=of.default)


def faults(error: AisPromptError) -> list[Fault]:
    """Return all faults of an error, without secrets."""
    return [Fault(*map(SECRETS.hide_in_message, (one.what, one.where, one.fix))) for one in faults_of(error)]


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
