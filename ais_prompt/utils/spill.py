"""Pieces of bytes that may be more than the memory should hold: few stay there, many go to a file."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ais_prompt.errors import StoreError

IN_MEMORY: Final = 4 * 2**20
"""Bytes that are kept in memory; with more, all go to a file."""


class Spill:
    """A growing sequence of pieces, which are read back by their numbers.

    The file has no name and goes with the process. It lies where the system puts temporary files (``TMPDIR``).
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # it lives as long as this does
        self._starts = array("q", [0])  # the last entry is the end

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self._starts) - 1

    def append(self, piece: bytes) -> None:
        """Keep one more.

        Raises:
            StoreError: the disk does not take it.
        """
        with _temporary_file("written", "free some space there"):
            self._file.seek(self._starts[-1])
            self._file.write(piece)
        self._starts.append(self._starts[-1] + len(piece))

    def __getitem__(self, number: int) -> bytes:
        """A piece.

        Raises:
            IndexError: there is none of this number, from 0.
            StoreError: it cannot be read.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"piece {number} of {len(self)}")
        with _temporary_file("read", "check that disk"):
            self._file.seek(self._starts[number])
            return self._file.read(self._starts[number + 1] - self._starts[number])


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
