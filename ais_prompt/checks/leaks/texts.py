"""Draw the texts for a leak search: a bounded number of rows and characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from ais_prompt.types import Sample

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


def value_text(value: Any) -> str:
    """Return the text of a value: of lists and mappings the entries, of images and other bytes nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(map(value_text, value.values()))
    if isinstance(value, list | tuple):
        return "\n".join(map(value_text, value))
    return str(value) if isinstance(value, int | float) else ""
