"""What ``--json`` prints: one document on standard output, whose schema is in ``docs/schemas``.

The document of a verb is beside what the verb does; extensions add documents, and fields to those of the core.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import field

from ais_prompt.errors import AisPromptError, faults_of
from ais_prompt.extension import VerbEntry, all_of, import_object
from ais_prompt.secrets import SECRETS
from ais_prompt.steps import extensions, installed_entry
from ais_prompt.types import Document, Fault

_OWN: Final[Mapping[str, str]] = {
    "run": "ais_prompt.verbs.run_document:RunDocument",
    "score": "ais_prompt.verbs.run_document:RunDocument",
    "check": "ais_prompt.verbs.check:CheckDocument",
    "list": "ais_prompt.verbs.list_document:ListDocument",
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
