"""Notes on a config of another program, whose translation differs from it."""

from __future__ import annotations

from msgspec import Struct


class Note(Struct, frozen=True):
    """One thing that differs from what the program of a config would do.

    Attributes:
        what: one sentence.
        where: config path.
        fix: what the user can do about it; may be empty.
    """

    what: str
    where: str
    fix: str = ""


class NoteList(list[Note]):
    """The notes of a config, in its order."""

    def note(self, what: str, where: str, fix: str = "") -> None:
        """Add a note."""
        self.append(Note(what, where, fix))
