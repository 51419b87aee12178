"""Sequences larger than memory: beyond a limit, their data is in a temporary file."""

from __future__ import annotations

import os
import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final, TypeVar, overload

from ais_prompt.errors import StoreError

T = TypeVar("T")

IN_MEMORY: Final = 4 * 2**20
"""Number of bytes kept in memory. If there are more, all go to a file."""
PIECE: Final = 128
"""Number of values that are written and read together."""


class Spill:
    """A growing sequence of pieces of bytes, which are read by their numbers.

    The newest ones are in memory, the others in a file without a name, which is removed when the process ends. It is in
    the system's temporary folder (``TMPDIR``).
    """

    def __init__(self) -> None:
        self._newest = bytearray()
        self._file: BinaryIO | None = None
        self._written = 0  # bytes in the file
        self._starts = array("q", [0])  # the last entry is the end

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self._starts) - 1

    def append(self, piece: bytes | memoryview) -> None:
        """Append a piece.

        Raises:
            StoreError: it cannot be written.
        """
        self._newest += piece
        self._starts.append(self._starts[-1] + len(piece))
        if len(self._newest) > IN_MEMORY:
            self._put_away()

    def __getitem__(self, number: int) -> bytes:
        """Return a piece.

        Raises:
            IndexError: there is no piece with this number, from 0.
            StoreError: it cannot be read.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"piece {number} of {len(self)}")
        start, end = self._starts[number], self._starts[number + 1]
        if self._file is None or start >= self._written:
            return bytes(self._newest[start - self._written : end - self._written])
        with _temporary_file("read", "check that disk"):
            return os.pread(self._file.fileno(), end - start, start)

    def _put_away(self) -> None:
        with _temporary_file("written", "free some space there"):
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # it lives as long as this does
            left = memoryview(self._newest)
            while left:
                left = left[self._file.write(left) :]
            left.release()
        self._written += len(self._newest)
        self._newest.clear()


class Spilled(Sequence[T]):
    """A growing sequence that keeps its values in a file, except for one piece of them.

    Iterating is nearly as fast as over a list; random access is slow. It returns copies of the values.
    Values that cannot be pickled stay in memory.
    """

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._spill = Spill()
        self._held: dict[int, list[T]] = {}  # pieces that cannot be pickled
        self._newest: list[T] = []  # fewer than a whole piece
        self._opened: tuple[int, list[T]] = (-1, [])  # the piece of the last index
        for value in values:
            self.append(value)

    def append(self, value: T) -> None:
        """Add a value at the end.

        Raises:
            StoreError: it cannot be written.
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
        except Exception:  # the class of a value may be user-defined, and raise anything
            self._held[len(self._spill)] = self._newest
            piece = b""
        self._spill.append(piece)
        self._newest = []

    def _piece(self, number: int) -> list[T]:
        if number == len(self._spill):
            return self._newest
        if number in self._held:
            return self._held[number]
        # Written by this process alone, so it is safe to unpickle.
        piece: list[T] = pickle.loads(self._spill[number])
        return piece


@contextmanager
def _temporary_file(done: str, cure: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"a temporary file cannot be {done}: {error.strerror or error}",
            where=tempfile.gettempdir(),
            fix=f"{cure}, or set TMPDIR to a folder on another disk",
        ) from error
