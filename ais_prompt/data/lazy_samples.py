"""Sequences of samples that are made on access, so that a large dataset takes little memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Self, overload

from ais_prompt.types import Sample


class LazySamples(Sequence[Sample], ABC):
    """Samples of some rows. A slice is one too, and counts from 0 again.

    Args:
        rows: the numbers of the rows, in the order of the samples.
    """

    def __init__(self, rows: Sequence[int]) -> None:
        self._rows = rows

    @abstractmethod
    def made(self, row: int, index: int) -> Sample:
        """Return the sample of a row; ``index`` is its position in this sequence."""

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Sample | Self:
        """Return a sample, or the samples of a slice.

        Raises:
            DataError: the data of the sample cannot be used.
            IndexError: there is no such sample.
        """
        if isinstance(index, slice):
            part = copy(self)
            part._rows = self._rows[index]
            return part
        return self.made(self._rows[index], index % len(self))

    def __iter__(self) -> Iterator[Sample]:
        return (self.made(row, index) for index, row in enumerate(self._rows))
