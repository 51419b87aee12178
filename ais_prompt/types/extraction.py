"""An answer that was read out of a text, and where."""

from __future__ import annotations

from msgspec import Struct


class Reading(Struct, frozen=True):
    """Where an answer was read.

    Attributes:
        rule: name of the rule that read it, e.g. ``the answer is``.
        start, end: characters ``start`` to ``end - 1`` of the answer's text, counted in code points.
    """

    rule: str
    start: int
    end: int


class Extraction(str):
    """What a postprocessor extracted: a text like any other, which also knows its `Reading`.

    The text may differ from what stands between ``start`` and ``end``: "１,０００" is read as "1000".
    """

    __slots__ = ("reading",)

    reading: Reading

    def __new__(cls, text: str, rule: str, start: int, end: int) -> Extraction:
        """Make one; see `Reading` for the arguments."""
        made = super().__new__(cls, text)
        made.reading = Reading(rule, start, end)
        return made
