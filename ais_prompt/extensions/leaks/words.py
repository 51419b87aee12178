"""What a search for leaks reads: rows that are drawn, the texts of their values, and the words of these."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from ais_prompt.types import Sample
from ais_prompt.utils import leaves

_CJK: Final = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD: Final = rf"\d+(?:[.,]\d+)*|[{_CJK}]|[^\W\d_{_CJK}]+"
_PUNCTUATION: Final = r".,;:!?…'\"`“”‘’「」『』《》。、·_"
_WORD_OR_SIGN: Final = rf"{_WORD}|[^\w\s{_PUNCTUATION}]"

SEED: Final = 20_261_122
"""Seed of everything that a search for leaks draws, so that it finds the same each time."""

MAX_CHARACTERS: Final = 10_000_000
"""Characters of all rows that one search reads: a few seconds of work."""


def drawn(samples: Sequence[Sample], rows: Sequence[int], most: int, columns: Sequence[str]) -> list[Sample]:
    """Draw samples, in their order: a maximum number, with at most `MAX_CHARACTERS` in their columns together.

    Args:
        samples: a split.
        rows: the rows of it to draw from.
        most: rows to draw; all if there are no more.
        columns: the columns that will be read.
    """
    if len(rows) == len(samples) <= most:
        found = list(samples)
    else:
        found = [samples[row] for row in sorted(Random(SEED).sample(rows, min(most, len(rows))))]
    sizes = sum(len(value_text(sample.fields.get(column))) for sample in found for column in columns)
    if sizes > MAX_CHARACTERS:
        fewer = sorted(Random(SEED).sample(range(len(found)), max(1, len(found) * MAX_CHARACTERS // sizes)))
        found = [found[index] for index in fewer]
    return found


def and_so_on(items: Sequence[Any], most: int = 3) -> str:
    """Return the first items in words: ``4, 7, 9, and so on``."""
    return ", ".join(map(str, items[:most])) + (", and so on" if len(items) > most else "")


def value_text(value: Any) -> str:
    """Return the texts and numbers in a value, one a line; of images and other bytes nothing."""
    return "\n".join(str(leaf) for leaf in leaves(value) if isinstance(leaf, str | int | float))


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text, without case, punctuation, signs and the commas inside numbers.

    Each Chinese, Japanese or Korean character is a word. A single letter keeps its case, because the
    label ``A`` is not the article ``a``.
    """
    return [word if len(word) == 1 else word.casefold() for word in _found(_WORD, text)]


def spaced(text: str) -> str:
    """Return the words of a text with a space on both sides of each."""
    return f" {' '.join(words_of(text))} "


def words_and_signs_of(text: str) -> list[str]:
    """Return words as `words_of` does, and signs such as ``+`` and ``(`` between them; all letters without case."""
    return [word.casefold() for word in _found(_WORD_OR_SIGN, text)]


def _found(pattern: str, text: str) -> list[str]:
    # It is compiled here, once: that takes some milliseconds, and few commands compare texts.
    found = re.findall(pattern, unicodedata.normalize("NFKC", text))
    return [word.replace(",", "") if len(word) > 1 and word[0].isdigit() else word for word in found]
