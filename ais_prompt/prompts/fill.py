"""Filling of ``{column}`` in one pass: what a value contains is never looked at again.

The peers replace column after column over the whole text, so a question that contains ``{answer}`` receives the gold
answer. Here a text is taken apart once into literals and slots; filling only joins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Text:
    """A text taken apart: ``literals[0] slots[0] literals[1] ... slots[n-1] literals[n]``.

    Attributes:
        literals: the fixed pieces, one more than there are slots; each may be empty.
        slots: the name of the value that goes between two literals: a column, or a token such as ``</E>``.
    """

    literals: tuple[str, ...]
    slots: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """Join the literals with the values of the slots; every slot must have a value."""
        pieces = [self.literals[0]]
        for slot, literal in zip(self.slots, self.literals[1:], strict=True):
            pieces += (values[slot], literal)
        return "".join(pieces)

    def split(self, slot: str) -> list[Text]:
        """The texts between the copies of one slot; one text more than there are copies."""
        texts, start = [], 0
        for position, name in enumerate(self.slots):
            if name == slot:
                texts.append(Text(self.literals[start : position + 1], self.slots[start:position]))
                start = position + 1
        return [*texts, Text(self.literals[start:], self.slots[start:])]


@lru_cache(maxsize=4096)
def compile_text(text: str, columns: tuple[str, ...], tokens: tuple[str, ...] = ()) -> Text:
    """Take a text apart.

    Args:
        text: the template text. There is no format language: no ``!r``, no ``:>5``, ``{{`` is no escape, ``{ q }``
            with blanks is no slot. ``{name}`` stays as it is when there is no column of that name.
        columns: names that are slots when they stand in braces.
        tokens: texts that are slots as they stand, such as an ``ice_token``.
    """
    # Longest first, so that the result does not depend on the order of the columns.
    marks = sorted([*(f"{{{column}}}" for column in columns), *tokens], key=len, reverse=True)
    if not marks:
        return Text((text,), ())
    pieces = re.split("(" + "|".join(map(re.escape, marks)) + ")", text)
    return Text(tuple(pieces[::2]), tuple(_slot(mark, tokens) for mark in pieces[1::2]))


def _slot(mark: str, tokens: Sequence[str]) -> str:
    return mark if mark in tokens else mark[1:-1]


def as_texts(fields: Mapping[str, object]) -> dict[str, str]:
    """The values as Python's `str` writes them: True, None, 0.5, ['x', 1]."""
    return {name: value if isinstance(value, str) else str(value) for name, value in fields.items()}
