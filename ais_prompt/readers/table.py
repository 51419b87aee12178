"""The rows of one split, as they were read."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from ais_prompt.utils.digest import digest

if TYPE_CHECKING:
    import pyarrow as pa

Row: TypeAlias = dict[str, Any]
"""Column → plain Python value."""

_ID_DIGITS = 12
_BATCH = 1000
"""Rows that become Python values in one go."""


class Table:
    """An Arrow table whose rows become Python values one at a time.

    Attributes:
        arrow: the table beneath.
        columns: their names, in the order of the source.
        origins: the files that it was read from, for errors and for the record.
    """

    def __init__(self, arrow: pa.Table, origins: Sequence[str]) -> None:
        self.arrow = arrow
        self.columns: tuple[str, ...] = tuple(arrow.column_names)
        self.origins = tuple(origins)
        self._batches = arrow.to_batches()
        self._columns = [batch.columns for batch in self._batches]
        self._starts = [0]
        for batch in self._batches:
            self._starts.append(self._starts[-1] + batch.num_rows)

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Row]:
        for batch in self._batches:
            for start in range(0, batch.num_rows, _BATCH):
                yield from batch.slice(start, _BATCH).to_pylist()

    def row(self, number: int) -> Row:
        """One row.

        Raises:
            IndexError: there is no row of this number, from 0.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        batch = bisect_right(self._starts, number) - 1
        offset = number - self._starts[batch]
        return {name: column[offset].as_py() for name, column in zip(self.columns, self._columns[batch], strict=True)}

    @cached_property
    def row_ids(self) -> list[str]:
        """An id for every row: 12 hex digits of its content's digest; equal rows get ``-2``, ``-3``, ... in order."""
        seen: Counter[str] = Counter()
        ids = []
        for row in self:
            content = digest(row, _ID_DIGITS)
            seen[content] += 1
            ids.append(content if seen[content] == 1 else f"{content}-{seen[content]}")
        return ids

    @cached_property
    def digest(self) -> str:
        """A digest of all rows and their order, whatever kind of file they came from."""
        return digest(self.row_ids)
