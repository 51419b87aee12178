"""Many short lists of row numbers, in a few bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TypeAlias, overload

Rows: TypeAlias = tuple[int, ...]


class RowLists(Sequence[Rows]):
    """A list of row numbers for every test row: eight bytes for each of them, where a tuple takes forty.

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
        """As a list of tuples has it, which it takes the place of."""
        return isinstance(other, Sequence) and list(self) == list(other)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Rows: ...
    @overload
    def __getitem__(self, index: slice) -> RowLists: ...
    def __getitem__(self, index: int | slice) -> Rows | RowLists:
        """The list of one test row, or those of some."""
        if isinstance(index, slice):
            return RowLists(self[row] for row in range(*index.indices(len(self))))
        row = range(len(self))[index]
        return tuple(self._rows[self._ends[row] : self._ends[row + 1]])
