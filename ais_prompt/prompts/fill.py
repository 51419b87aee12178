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
"""A private character: no template has it around the name of a column."""


class Text:
    """A text taken apart at its marks. It never changes.

    Args:
        pieces: literals and keys in turn; the first and the last one are literals, perhaps empty.

    Attributes:
        keys: the values to be put in, in order; a mark is its own key until it is given another one.
    """

    __slots__ = ("_pieces", "keys")

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = tuple(pieces)
        self.keys = self._pieces[1::2]

    def fill(self, values: Mapping[str, object]) -> str:
        """The text with what Python's `str` makes of the values (True, None, 0.5, ['x', 1]); no key may lack one."""
        pieces = list(self._pieces)
        pieces[1::2] = [str(values[key]) for key in self.keys]
        return "".join(pieces)

    def with_keys(self, keys: Mapping[str, str]) -> Text:
        """The same text with other keys: old → new, for all of them."""
        pieces = list(self._pieces)
        pieces[1::2] = [keys[key] for key in self.keys]
        return Text(pieces)

    @property
    def sealed(self) -> str:
        """The text with each key between two seals, by which `unsealed` finds it again in a longer text."""
        return self.fill({key: f"{SEAL}{key}{SEAL}" for key in self.keys})

    def split(self, key: str) -> list[Text]:
        """The texts between the copies of one key; one text more than there are copies."""
        texts, start = [], 0
        for place in range(1, len(self._pieces), 2):
            if self._pieces[place] == key:
                texts.append(Text(self._pieces[start:place]))
                start = place + 1
        return [*texts, Text(self._pieces[start:])]


def unsealed(text: str, keys: Iterable[str]) -> Text:
    """Take a text apart at its sealed keys; keys without seals are literal text."""
    return Text(re.split(f"{SEAL}({'|'.join(map(re.escape, keys))}){SEAL}", text))


@lru_cache(maxsize=4096)
def compile_text(text: str, marks: tuple[str, ...]) -> Text:
    """Take a text apart at its marks. Where one mark begins with another, the longer one is meant."""
    if not marks:
        return Text([text])
    # Longest first, so that the result does not depend on the order of the columns.
    longest_first = sorted(marks, key=len, reverse=True)
    return Text(re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text))


def column_marks(fields: Mapping[str, object]) -> dict[str, object]:
    """``{column}`` → its value."""
    return {mark_of(name): value for name, value in fields.items()}


def mark_of(column: str) -> str:
    """Where the value of a column goes.

    There is no format language: no ``!r``, no ``:>5``; ``{{`` is no escape, and ``{ q }`` with blanks is no mark.
    """
    return f"{{{column}}}"
