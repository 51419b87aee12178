"""Columns that hold lists, cut into the entries of each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.utils.text import listed


def column_entries(fields: Mapping[str, Any], column: str) -> list[Any]:
    """The entries of a column, one for each turn; a text is one entry.

    Raises:
        PromptError: the row has no such column.
    """
    if column not in fields:
        raise PromptError(
            f"the row has no {column!r} for its turns (it has {listed(fields)})",
            fix="name the columns that hold one entry for each turn: turn_columns=['...']",
        )
    value = fields[column]
    if value is None:  # so readers give an empty cell
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def turn_entries(fields: Mapping[str, Any], columns: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
    """Column → entry, for each turn, as many as the shortest column has; and why there are no more, or nothing.

    Raises:
        PromptError: the row lacks one of the columns.
    """
    entries = {column: column_entries(fields, column) for column in columns}
    turns = [dict(zip(columns, turn, strict=True)) for turn in zip(*entries.values(), strict=False)]
    if len({len(values) for values in entries.values()}) == 1:
        return turns, ""
    counts = ", ".join(f"{column}: {len(values)}" for column, values in entries.items())
    return turns, f"the columns have lists of different length ({counts})"
