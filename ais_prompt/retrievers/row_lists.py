"""Many short lists of row numbers in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TypeAlias, overload

Rows: TypeAlias = tuple[int, ...]


class RowLists(Sequence[Rows]):
    """A list of row numbers for each test row, at 8 bytes a number; a tuple takes 40.

    Args:
        lists: the lists, in order of the test rows.
    """

    def __init__(self, lists: Iterable[Sequence[int]]) -> None:
        self._rows = array("q")
        self._ends = array("q", [0])
        for rows in lists:
            self._rows.extend(rows)
            self._ends.append(len(self._rows))

    def __eq__(self, other: object) -> bool:
        """Compare like a list of tuples."""
        return isinstance(other, Sequence) and list(self) == list(other)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Rows: ...
    @overload
    def __getitem__(self, index: slice) -> RowLists: ...
    def __getitem__(self, index: int | slice) -> Rows | RowLists:
        """Return the list of one test row, or those of a slice."""
        if isinstance(index, slice):
            return RowLists(self[row] for row in range(*index.indices(len(self))))
        row = range(len(self))[index]
        return tuple(self._rows[self._ends[row] : self._ends[row + 1]])
