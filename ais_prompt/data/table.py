"""The rows of one split: a lazy table, ids by content, and tables joined from several files."""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from ais_prompt.data.batches import ArrowBatches, StoredBatches, rows_of, store_rows
from ais_prompt.errors import DataError
from ais_prompt.terminal import tracked
from ais_prompt.utils import digest, digest_of_list, listed

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

Row: TypeAlias = dict[str, Any]
"""Column → plain Python value."""

_BATCHES_KEPT: Final = 128
"""Most batches in the cache of single rows: 8 MiB, about the train split of a benchmark."""
_ROWS_AT_ONCE: Final = 1000
"""Rows that become Python values together."""

_DIGITS: Final = 12
"""Hex digits of a row id."""


class Table:
    """Batches of rows, which become Python values when they are asked for.

    Attributes:
        batches: the rows.
        columns: their names, in the order of the source.
        origins: the files that it was read from, for errors and for the record.
    """

    def __init__(self, batches: ArrowBatches | StoredBatches, origins: Sequence[str]) -> None:
        self.batches = batches
        self.columns: tuple[str, ...] = tuple(batches.columns)
        self.origins = tuple(origins)
        self._ids: dict[tuple[str, ...], RowIds] = {}
        self._batch = lru_cache(_BATCHES_KEPT)(batches.__getitem__)

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]], origins: Sequence[str] = ()) -> Self:
        """Make a table of rows that a reader computes.

        Args:
            rows: column → plain Python value, of each row.
            origins: the files that they were read from.

        Raises:
            DataError: a row cannot be stored; it names the number of the row, from 0.
        """
        numbered = ((number, dict(row)) for number, row in enumerate(rows))
        return cls(store_rows(numbered, lambda number: f"{', '.join(origins) or 'the rows'}, row {number}"), origins)

    def __len__(self) -> int:
        return self.batches.starts[-1]

    def __iter__(self) -> Iterator[Row]:
        return self.rows(range(len(self)))

    def rows(self, numbers: Sequence[int]) -> Iterator[Row]:
        """Yield the rows with these numbers; a `range` without steps is much faster than single rows."""
        if isinstance(numbers, range) and numbers.step == 1:
            return self._successive(numbers.start, numbers.stop, self.columns)
        return map(self.row, numbers)

    def _successive(self, start: int, stop: int, columns: Sequence[str]) -> Iterator[Row]:
        starts = self.batches.starts
        for number in range(bisect_right(starts, start) - 1, bisect_left(starts, stop)):
            batch = self.batches[number]
            first, last = max(start - starts[number], 0), min(stop - starts[number], batch.num_rows)
            for row in range(first, last, _ROWS_AT_ONCE):
                yield from self._values(batch.slice(row, min(_ROWS_AT_ONCE, last - row)), columns)

    def row(self, number: int) -> Row:
        """Return one row.

        Raises:
            IndexError: there is no row with this number, from 0.
        """
        starts = self.batches.starts
        if not 0 <= number < starts[-1]:
            raise IndexError(f"row {number} of {len(self)}")
        batch = bisect_right(starts, number) - 1
        return self._values(self._batch(batch).slice(number - starts[batch], 1), self.columns)[0]

    def _values(self, batch: pa.RecordBatch, columns: Sequence[str]) -> list[Row]:
        try:
            return rows_of(batch, columns)
        except DataError as error:
            error.where = error.where or ", ".join(self.origins)
            raise

    @cached_property
    def row_ids(self) -> RowIds:
        """Return the ids of whole rows, gold and unused columns included."""
        return RowIds(self._counted(self), len(self))

    def ids_by(self, columns: Sequence[str]) -> RowIds:
        """Return the ids of rows by these columns only."""
        named = tuple(sorted(set(columns)))
        if set(named) == set(self.columns):
            return self.row_ids
        if named not in self._ids:
            self._ids[named] = RowIds(self._counted(self._successive(0, len(self), named)), len(self))
        return self._ids[named]

    def _counted(self, rows: Iterable[Row]) -> Iterable[Row]:
        """Show how far the ids are computed, where that takes a while."""
        return tracked(rows, "computing row ids", len(self)) if len(self) > _ROWS_AT_ONCE else rows

    @cached_property
    def digest(self) -> str:
        """Return a digest of all rows and their order; it does not depend on the file format."""
        return digest_of_list(self.row_ids)


class RowIds:
    """The id of each row: 12 hex digits of its content's digest; equal rows get ``-2``, ``-3``, ... in order.

    Args:
        rows: all rows, column → plain Python value, of the columns that count.
        count: how many there are.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], count: int) -> None:
        contents = np.fromiter((int(digest(row, _DIGITS), 16) for row in rows), np.uint64, count)
        # Single numbers come out of Python's arrays faster.
        self._contents = array("Q", contents.tobytes())
        self._copies = array("I", _copies(contents).tobytes())

    def __len__(self) -> int:
        return len(self._contents)

    def __getitem__(self, row: int) -> str:
        return _row_id(self._contents[row], self._copies[row])

    def __iter__(self) -> Iterator[str]:
        return map(_row_id, self._contents, self._copies)


def _row_id(content: int, copy: int) -> str:
    # The digits are written out: looking them up would take as long as the rest.
    return f"{content:012x}" if copy == 1 else f"{content:012x}-{copy}"


def _copies(contents: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """For each row how many rows up to it, itself included, have its content; shape (rows,)."""
    order = np.argsort(contents, kind="stable")
    ordered = contents[order]
    differ = ordered[1:] != ordered[:-1]
    if differ.all():
        return np.ones(len(contents), np.uint32)
    starts = np.flatnonzero(np.append(True, differ))  # of each run of equal contents
    sizes = np.diff(starts, append=len(contents))
    copies = np.empty(len(contents), np.uint32)
    copies[order] = np.arange(len(contents)) - np.repeat(starts, sizes) + 1
    return copies


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
            are_texts = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
            if name not in row or not (lines is None or are_texts):
                held = "is no column" if name not in row else f"holds {lines!r:.60} in row {number}"
                raise DataError(
                    f"join_lines names {name!r}, which {held}",
                    where=listed(table.origins),
                    fix="name columns of lists of texts",
                )
            row[name] = None if lines is None else "\n".join(lines)
        yield row
