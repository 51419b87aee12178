"""Fill ``{column}`` in one pass, so that text in the values is never filled again.

The peers replace column after column in the whole text: a question that contains ``{answer}`` receives the gold answer.
Here a text is split once into literals and marks, and filling joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

SENTINEL: Final = "\ue000"
"""A character of Unicode's private use: no template has it around the name of a column."""


class CompiledText:
    """A text that is split at its marks. Immutable.

    Args:
        pieces: literals and keys in turn; the first and last are literals, possibly empty.

    Attributes:
        keys: the keys of the values to fill in, in order. A mark is its own key until `with_keys` replaces it.
    """

    __slots__ = ("_pieces", "keys")

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = tuple(pieces)
        self.keys = self._pieces[1::2]

    def fill(self, values: Mapping[str, object]) -> str:
        """Return the text with ``str(value)`` for each key (True, None, 0.5, ['x', 1]); every key needs a value."""
        pieces = list(self._pieces)
        pieces[1::2] = [str(values[key]) for key in self.keys]
        return "".join(pieces)

    def with_keys(self, keys: Mapping[str, str]) -> CompiledText:
        """Return the same text with other keys.

        Args:
            keys: old key → new key, for all keys.
        """
        pieces = list(self._pieces)
        pieces[1::2] = [keys[key] for key in self.keys]
        return CompiledText(pieces)

    @property
    def with_sentinels(self) -> str:
        """The text with each key between two sentinels, where `split_at_sentinels` finds it in a longer text."""
        return self.fill({key: f"{SENTINEL}{key}{SENTINEL}" for key in self.keys})

    def split(self, key: str) -> list[CompiledText]:
        """Return the texts between the occurrences of a key: one more than there are occurrences."""
        texts, start = [], 0
        for place in range(1, len(self._pieces), 2):
            if self._pieces[place] == key:
                texts.append(CompiledText(self._pieces[start:place]))
                start = place + 1
        return [*texts, CompiledText(self._pieces[start:])]


def split_at_sentinels(text: str, keys: Iterable[str]) -> CompiledText:
    """Split a text at the keys between sentinels; other occurrences of the keys are literal text."""
    return CompiledText(re.split(f"{SENTINEL}({'|'.join(map(re.escape, keys))}){SENTINEL}", text))


@lru_cache(maxsize=4096)
def compile_text(text: str, marks: tuple[str, ...]) -> CompiledText:
    """Split a text at its marks. Where one mark begins with another, the longer one counts."""
    if not marks:
        return CompiledText([text])
    # Longest first, so that the result does not depend on the order of the columns.
    longest_first = sorted(marks, key=len, reverse=True)
    return CompiledText(re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text))


def column_marks(fields: Mapping[str, object]) -> dict[str, object]:
    """Return ``{column}`` → value. A column without a name has no mark: ``{}``, as in ``\\boxed{}``, is text."""
    return {mark_of(name): value for name, value in fields.items() if name}


def mark_of(column: str) -> str:
    """Return the mark of a column in a template.

    There is no format language: no ``!r``, no ``:>5``; ``{{`` is no escape, and ``{ q }`` is no mark.
    """
    return f"{{{column}}}"
