"""Rows in Arrow record batches, of which only a few are in memory at a time."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from ais_prompt.utils.spill import Spill

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES: Final = 2**16
"""About the bytes of a batch: small enough to read one row quickly, large enough for little overhead."""


class Batches(Protocol):
    """Record batches, one after the other.

    Attributes:
        columns: the names of all columns; a batch may lack some.
        starts: the number of the first row of each batch, and at the end the number of all rows.
    """

    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def starts(self) -> Sequence[int]: ...

    def __getitem__(self, number: int) -> pa.RecordBatch:
        """Return a batch by its number, from 0."""

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...


class ArrowBatches:
    """The batches of an Arrow table, wherever Arrow keeps them: in memory, or mapped from a file.

    Args:
        table: the table.
    """

    def __init__(self, table: pa.Table) -> None:
        self.columns: Sequence[str] = table.schema.names
        self.starts = array("q", [0])
        self._batches = table.to_batches()
        for batch in self._batches:
            self.starts.append(self.starts[-1] + batch.num_rows)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._batches)

    def __getitem__(self, number: int) -> pa.RecordBatch:
        """Return a batch."""
        return self._batches[number]


class StoredBatches:
    """Batches that are kept as bytes, few in memory and many in a file (`Spill`), and read back one at a time.

    The last one stays as it is: most datasets of a large suite have no other. Each has columns and types of its own.
    """

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.starts = array("q", [0])
        self._pieces = Spill()
        self._last: pa.RecordBatch | None = None

    def append(self, batch: pa.RecordBatch) -> None:
        """Store a batch; a large one is split.

        Raises:
            StoreError: it cannot be written.
        """
        # Metadata of other programs may be longer than a batch.
        if batch.schema.metadata is not None:
            batch = batch.replace_schema_metadata()
        if self._last is not None:
            self._put_away(self._last)
            self._last = None
        for piece in _pieces(batch):
            self.starts.append(self.starts[-1] + piece.num_rows)
            if piece.num_rows == batch.num_rows:  # a part of it would keep all of it in memory
                self._last = piece
            else:
                self._put_away(piece)
        self.columns += [name for name in batch.schema.names if name not in self.columns]

    def _put_away(self, batch: pa.RecordBatch) -> None:
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        self._pieces.append(sink.getvalue().to_pybytes())

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return map(self.__getitem__, range(len(self.starts) - 1))

    def __getitem__(self, number: int) -> pa.RecordBatch:
        """Return a batch.

        Raises:
            StoreError: it cannot be read.
        """
        import pyarrow as pa

        if self._last is not None and number == len(self._pieces):
            return self._last
        return pa.ipc.open_stream(self._pieces[number]).read_next_batch()


def _pieces(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Return a batch in pieces of at most twice the usual size."""
    if batch.num_rows and batch.get_total_buffer_size() <= 2 * BATCH_BYTES:  # found more quickly than `nbytes`
        return [batch]
    rows = max(1, batch.num_rows * 2 * BATCH_BYTES // max(1, batch.nbytes))
    return [batch.slice(start, rows) for start in range(0, batch.num_rows, rows)]
