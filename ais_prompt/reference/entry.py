"""The values of the reference: an entry and its arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from typing import Any, Final

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields as struct_fields

REQUIRED: Final = "(required)"
"""In place of a default."""


class Argument(Struct, frozen=True):
    """An argument of a part, a key of a dict, a field of a value or an option of a command.

    Attributes:
        name: its name.
        kind: its type, in words.
        default: its default as it is written; `REQUIRED` if it must be given, empty if there is nothing to say.
        meaning: what it does, in which unit.
    """

    name: str
    kind: str
    default: str
    meaning: str

    @property
    def names(self) -> list[str]:
        """Its names: an option of a command can have several."""
        return self.name.split(", ")


class Entry(Struct, frozen=True):
    """Something that the reference describes.

    Attributes:
        name: its name, as a config, a command line or a program writes it.
        group: the page that it is on: ``retrievers``, ``errors``.
        kind: what it is, in the singular: ``retriever``, ``error``.
        summary: one sentence.
        text: paragraphs of Markdown; blocks of code are indented.
        arguments: its arguments, in order.
        usage: how it is written: ``type='FixKRetriever'``.
        also: other names that mean the same.
        facts: further (title, text), such as the errors that it raises.
    """

    name: str
    group: str
    kind: str
    summary: str
    text: str = ""
    arguments: tuple[Argument, ...] = ()
    usage: str = ""
    also: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


def hints_of(part: Any) -> dict[str, Any]:
    """Return name → annotation, resolved where that is possible."""
    target = part.__init__ if inspect.isclass(part) and not _has_fields(part) else part
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError):  # a name that only type checkers import
        return dict(getattr(target, "__annotations__", {}))


def default_text(value: Any) -> str:
    """Return a default as a config writes it."""
    if isinstance(value, Struct):
        given = ", ".join(
            f"{one.name}={getattr(value, one.name)!r}"
            for one in struct_fields(value)
            if getattr(value, one.name) != one.default
        )
        return f"{type(value).__name__}({given})"
    return repr(value)


def field_defaults(kind: type[Struct]) -> Iterator[tuple[str, str]]:
    """Yield name and default of each field of a value."""
    for one in struct_fields(kind):
        if one.default is not NODEFAULT:
            yield one.name, default_text(one.default)
        elif one.default_factory is not NODEFAULT:
            yield one.name, default_text(one.default_factory())
        else:
            yield one.name, REQUIRED


def _has_fields(part: type) -> bool:
    return issubclass(part, Struct) or typing.is_typeddict(part)
