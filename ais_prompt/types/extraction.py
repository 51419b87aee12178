"""The answer that a postprocessor found in a text, and its position."""

from __future__ import annotations

from msgspec import Struct


class Reading(Struct, frozen=True):
    """The position of an extracted answer.

    Attributes:
        rule: name of the rule that found it, e.g. ``the answer is``.
        start, end: it is ``text[start:end]`` of the model's answer, counted in code points.
    """

    rule: str
    start: int
    end: int


class Extraction(str):
    """An extracted answer: a string that also carries its `Reading`.

    The string may differ from the text between ``start`` and ``end``: "１,０００" is read as "1000".

    Args:
        text: the answer.
        rule: name of the rule that found it.
        start, end: it was found in ``text[start:end]`` of the model's answer, counted in code points.
    """

    __slots__ = ("reading",)

    reading: Reading

    def __new__(cls, text: str, rule: str, start: int, end: int) -> Extraction:
        """Create the string."""
        made = super().__new__(cls, text)
        made.reading = Reading(rule, start, end)
        return made
