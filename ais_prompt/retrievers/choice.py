"""Take the first rows of a ranking, without copies of the test row itself, and keep them in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeAlias, overload

from ais_prompt.errors import ConfigError
from ais_prompt.retrievers.base import ShotIds
from ais_prompt.types import Sample
from ais_prompt.utils.row_index import RowIndex, row_key
from ais_prompt.utils.text import counted

OwnRows: TypeAlias = tuple[int, ...]
"""The train rows that are equal to a test row, and must not be among its examples."""


def own_rows(train: Sequence[Sample], test: Sequence[Sample], *, exclude_self: bool) -> Sequence[OwnRows]:
    """Return the train rows with the same columns and values as each test row; none unless ``exclude_self``.

    It compares content, not ids or row numbers: splits that share rows need not share their order, and every copy of a
    row in the train split would show the answer.
    """
    if not exclude_self:
        return [()] * len(test)
    index = RowIndex(row_key(sample.fields) for sample in train)
    return RowLists(index.rows(row_key(sample.fields)) for sample in test)


def take(order: Iterable[int], count: int, own: OwnRows) -> ShotIds:
    """Return the first ``count`` rows of a ranking without the test row's own; fewer if there are not so many."""
    return tuple(islice((int(row) for row in order if row not in own), count))


def check_count(count: int, argument: str) -> int:
    """Return a number of shots unchanged.

    Raises:
        ConfigError: it is negative.
    """
    if count < 0:
        raise ConfigError(f"{argument} cannot be {count}", fix=f"{argument}=0 shows no examples")
    return count


def check_enough(count: int, rows: int, argument: str, own: Iterable[OwnRows] = ()) -> None:
    """Check that the train split has enough rows for every test row.

    Raises:
        ConfigError: it has fewer than ``count``, or too few without a test row's own.
    """
    left_out = max(map(len, own), default=0)
    if count > rows - left_out:
        less = f", {left_out} of them equal to a test row" if left_out else ""
        raise ConfigError(
            f"{argument} asks for {counted(count, 'example')}, but the train split has {counted(rows, 'row')}{less}",
            fix=f"lower {argument}; check train_split and train_range of reader_cfg",
        )


class RowLists(Sequence[ShotIds]):
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
    def __getitem__(self, index: int) -> ShotIds: ...
    @overload
    def __getitem__(self, index: slice) -> RowLists: ...
    def __getitem__(self, index: int | slice) -> ShotIds | RowLists:
        """Return the list of one test row, or those of a slice."""
        if isinstance(index, slice):
            return RowLists(self[row] for row in range(*index.indices(len(self))))
        row = range(len(self))[index]
        return tuple(self._rows[self._ends[row] : self._ends[row + 1]])
