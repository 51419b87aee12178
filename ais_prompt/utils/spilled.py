"""A sequence of values that may be more than the memory should hold."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar, overload

from ais_prompt.utils.spill import Spill

T = TypeVar("T")

PIECE: Final = 128
"""Values that are written and read together."""


class Spilled(Sequence[T]):
    """A growing sequence that keeps its values outside the memory, but for one piece of them.

    To go through it is nearly as fast as with a list, as often as one likes; values out of order are slow. What comes
    out is a copy of what went in. Values that cannot be pickled stay in memory.
    """

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._spill = Spill()
        self._held: dict[int, list[T]] = {}  # pieces that cannot be pickled
        self._newest: list[T] = []  # not yet a whole piece
        self._opened: tuple[int, list[T]] = (-1, [])  # the piece of the last index
        for value in values:
            self.append(value)

    def append(self, value: T) -> None:
        """Add a value at the end.

        Raises:
            StoreError: the disk does not take it.
        """
        self._newest.append(value)
        if len(self._newest) == PIECE:
            self._put_away()

    def __len__(self) -> int:
        return len(self._spill) * PIECE + len(self._newest)

    def __iter__(self) -> Iterator[T]:
        number = 0
        while number <= len(self._spill):
            yield from self._piece(number)
            number += 1

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        number, place = divmod(range(len(self))[index], PIECE)
        if self._opened[0] != number:
            self._opened = (number, self._piece(number))
        return self._opened[1][place]

    def _put_away(self) -> None:
        try:
            piece = pickle.dumps(self._newest, pickle.HIGHEST_PROTOCOL)
        except Exception:  # the class of a value may be the user's own, and raise whatever it likes
            self._held[len(self._spill)] = self._newest
            piece = b""
        self._spill.append(piece)
        self._newest = []

    def _piece(self, number: int) -> list[T]:
        if number == len(self._spill):
            return self._newest
        if number in self._held:
            return self._held[number]
        # Nobody but this process has written it, so it is safe to unpickle.
        piece: list[T] = pickle.loads(self._spill[number])
        return piece
