"""Ids of rows by the content of their columns, at twelve bytes a row."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ais_prompt.utils.digest import digest

_DIGITS: Final = 12


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
