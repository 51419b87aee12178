"""Notes on a config: how its words were understood, and where a translation differs from its original."""

from __future__ import annotations

from msgspec import Struct

from ais_prompt.terminal import NOTE


class Note(Struct, frozen=True):
    """One thing about a config that a user may want to know.

    Attributes:
        what: one sentence.
        where: config path; empty for what the command line names.
        fix: what the user can do about it; may be empty.
        level: of the log: `FACT` for a line that describes the run, ``INFO`` for what its end shows as well.
    """

    what: str
    where: str = ""
    fix: str = ""
    level: int = NOTE
