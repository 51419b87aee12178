"""The columns of a row that are stored with its prediction, for filters and breakdowns in reports."""

from __future__ import annotations

from typing import Any, Final

from ais_prompt.types import Sample

LONGEST: Final = 60
"""Longest text that counts as a name, such as a subject or a level; longer ones are content."""


def columns_of(sample: Sample, gold: str | None) -> dict[str, Any]:
    """Return the columns of a row with a number, a flag or a short text in one line, except the gold column."""
    return {name: value for name, value in sample.fields.items() if name != gold and _is_name(value)}


def _is_name(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST and "\n" not in value
    return isinstance(value, bool | int | float)
