"""Join the tables of several files, and the lines of a column."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.readers.arrow.batches import StoredBatches
from ais_prompt.readers.arrow.table import Table
from ais_prompt.utils.text import listed

logger = logging.getLogger(__name__)


def join_tables(tables: Sequence[Table]) -> Table:
    """Concatenate tables. A column that a table lacks is None in its rows."""
    if len(tables) == 1:
        return tables[0]
    stored = StoredBatches()
    for table in tables:
        if odd := sorted(set(tables[0].columns) ^ set(table.columns)):
            logger.warning("%s: the columns %s are not in all files; they are None there", table.origins[0], odd)
        for batch in table.batches:
            stored.append(batch)
    return Table(stored, [origin for table in tables for origin in table.origins])


def join_lines(table: Table, columns: Sequence[str]) -> Table:
    """Join each list of texts in these columns into one text, one entry a line.

    Without it a template would show the list with brackets and quotes.

    Raises:
        DataError: a column does not exist, or does not hold lists of texts.
    """
    return Table.of_rows(_with_joined_lines(table, columns), table.origins)


def _with_joined_lines(table: Table, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(table):
        for name in columns:
            lines = row.get(name)
            if name not in row or not (lines is None or _are_texts(lines)):
                held = "is no column" if name not in row else f"holds {lines!r:.60} in row {number}"
                raise DataError(
                    f"join_lines names {name!r}, which {held}",
                    where=listed(table.origins),
                    fix="name columns of lists of texts",
                )
            row[name] = None if lines is None else "\n".join(lines)
        yield row


def _are_texts(lines: Any) -> bool:
    return isinstance(lines, list) and all(isinstance(line, str) for line in lines)
