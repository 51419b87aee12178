"""Filling of ``{column}`` in one pass: what a value contains is never looked at again.

The peers replace column after column over the whole text, so a question that contains ``{answer}`` receives the gold
answer. Here a text is taken apart once into literals and marks; filling only joins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

SEAL: Final = "\ue000"
"""A private character: no template has it around a mark."""


class Text:
    """A text taken apart at its marks. It never changes.

    Args:
        pieces: literals and marks in turn; the first and the last one are literals, perhaps empty.

    Attributes:
        marks: what is to be replaced: ``{column}``, or a token such as ``</E>``.
    """

    __slots__ = ("_pieces", "marks")

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = tuple(pieces)
        self.marks = self._pieces[1::2]

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with the values of the marks; every mark must have one."""
        pieces = list(self._pieces)
        pieces[1::2] = [values[mark] for mark in self.marks]
        return "".join(pieces)

    @property
    def sealed(self) -> str:
        """The text with each mark between two seals, by which `unsealed` finds it again in a longer text."""
        pieces = list(self._pieces)
        pieces[1::2] = [f"{SEAL}{mark}{SEAL}" for mark in self.marks]
        return "".join(pieces)

    def split(self, mark: str) -> list[Text]:
        """The texts between the copies of one mark; one text more than there are copies."""
        texts, start = [], 0
        for place in range(1, len(self._pieces), 2):
            if self._pieces[place] == mark:
                texts.append(Text(self._pieces[start:place]))
                start = place + 1
        return [*texts, Text(self._pieces[start:])]


def unsealed(text: str, marks: Iterable[str]) -> Text:
    """Take a text apart at its sealed marks; marks without seals are literal text."""
    return Text(re.split(f"{SEAL}({'|'.join(map(re.escape, marks))}){SEAL}", text))


@lru_cache(maxsize=4096)
def compile_text(text: str, marks: tuple[str, ...]) -> Text:
    """Take a text apart at its marks. Where one mark begins with another, the longer one is meant."""
    if not marks:
        return Text([text])
    # Longest first, so that the result does not depend on the order of the columns.
    longest_first = sorted(marks, key=len, reverse=True)
    return Text(re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text))


def column_marks(fields: Mapping[str, object]) -> dict[str, str]:
    """``{column}`` → what is written for it."""
    return {mark_of(name): as_text(value) for name, value in fields.items()}


def mark_of(column: str) -> str:
    """Where the value of a column goes.

    There is no format language: no ``!r``, no ``:>5``; ``{{`` is no escape, and ``{ q }`` with blanks is no mark.
    """
    return f"{{{column}}}"


def column_of(mark: str) -> str:
    """The inverse of `mark_of`."""
    return mark[1:-1]


def as_text(value: object) -> str:
    """What is written for a value: what Python's `str` makes of it (True, None, 0.5, ['x', 1])."""
    return value if isinstance(value, str) else str(value)
