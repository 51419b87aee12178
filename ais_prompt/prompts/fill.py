"""Filling of ``{column}`` in one pass: what a value contains is never looked at again.

The peers replace column after column over the whole text, so a question that contains ``{answer}`` receives the gold
answer. Here a text is taken apart once into literals and marks; filling only joins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Text:
    """A text taken apart: ``literals[0] marks[0] literals[1] ... marks[n-1] literals[n]``.

    Attributes:
        literals: the fixed pieces, one more than there are marks; each may be empty.
        marks: what stands between two literals: ``{column}``, or a token such as ``</E>``.
    """

    literals: tuple[str, ...]
    marks: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """Join the literals with the values of the marks; every mark must have a value."""
        pieces = [self.literals[0]]
        for mark, literal in zip(self.marks, self.literals[1:], strict=True):
            pieces += (values[mark], literal)
        return "".join(pieces)

    def split(self, mark: str) -> list[Text]:
        """The texts between the copies of one mark; one text more than there are copies."""
        texts, start = [], 0
        for position, found in enumerate(self.marks):
            if found == mark:
                texts.append(Text(self.literals[start : position + 1], self.marks[start:position]))
                start = position + 1
        return [*texts, Text(self.literals[start:], self.marks[start:])]


@lru_cache(maxsize=4096)
def compile_text(text: str, marks: tuple[str, ...]) -> Text:
    """Take a text apart at its marks. Where one mark begins with another, the longer one is meant."""
    if not marks:
        return Text((text,), ())
    # Longest first, so that the result does not depend on the order of the columns.
    longest_first = sorted(marks, key=len, reverse=True)
    pieces = re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text)
    return Text(tuple(pieces[::2]), tuple(pieces[1::2]))


def column_marks(fields: Mapping[str, object]) -> dict[str, str]:
    """``{column}`` → what is written for it: the value as Python's `str` writes it (True, None, 0.5, ['x', 1]).

    There is no format language: no ``!r``, no ``:>5``; ``{{`` is no escape, and ``{ q }`` with blanks is no mark.
    """
    return {f"{{{name}}}": value if isinstance(value, str) else str(value) for name, value in fields.items()}
