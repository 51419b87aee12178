"""What all documents of ``--json`` have in common."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

VERSION: Final = 1
"""The version of all documents. It grows if a field is removed or changes its meaning."""


class Fault(Struct, frozen=True):
    """What went wrong, where, and how to fix it; the last two may be empty."""

    what: str
    where: str = ""
    fix: str = ""


class Document(Struct, kw_only=True):
    """What all documents have in common.

    Attributes:
        kind: the verb.
        schema_version: of the document.
        version: of this program.
        exit_code: of the command.
        errors: why the command failed; all faults of a config at once. Errors of single tasks are in ``tasks``.
    """

    kind: str
    schema_version: int = VERSION
    version: str
    exit_code: int = 0
    errors: list[Fault] = field(default_factory=list)
