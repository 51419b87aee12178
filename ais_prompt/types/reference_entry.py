"""What the reference says of a name."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

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
