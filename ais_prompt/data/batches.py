"""Rows in Arrow record batches, from which each value comes back exactly as it was written.

`store_rows` makes batches of plain Python values. A column of one row is a column of all rows; a row without it has
None there. A warning says so, since it may change a prompt. The borders of batches make no difference.

Texts, whole numbers, fractions and truth values have the Arrow type of their kind. All other values of JSON are stored
as JSON, value by value: objects and lists, and whole numbers beside fractions. Arrow would fill objects up with the
keys of other objects, and turn 5 into 5.0 beside 7.5.

`StoredBatches` keeps only a few batches in memory, the others in a file.
"""

from __future__ import annotations

import json
import logging
import reprlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ais_prompt.errors import DataError
from ais_prompt.utils import Spill, decode

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

Place: TypeAlias = Callable[[int], str]
"""From the number of a line or row to the words that tell the user where that is."""

NumberedRow: TypeAlias = tuple[int, dict[str, Any]]
"""The number of a line or row, and its values by column."""

_MEASURED: Final = 8
"""Of so many rows the size of one is measured."""

_KINDS: Final = {str: "text", int: "numbers", float: "numbers", bool: "true and false"}
"""Kinds of plain values: two in one column are a slip. Objects and lists go with each."""
_FIX: Final = "write whole characters, numbers of at most 64 bits, and values that JSON has"

BATCH_BYTES: Final = 2**16
"""About the bytes of a batch: small enough to read one row quickly, large enough for little overhead."""
_JSON: Final = {b"ais_prompt": b"json"}
"""Metadata of a field whose texts are JSON."""


def store_rows(rows: Iterable[NumberedRow], place: Place, batch_bytes: int = BATCH_BYTES) -> StoredBatches:
    """Batches of numbered rows; without a row they have no columns.

    Args:
        rows: the rows.
        place: tells where one of them is.
        batch_bytes: about how large a batch is.

    Raises:
        DataError: the first row has no columns, text and numbers are in one column, or a value cannot be stored; it
            names the row.
        StoreError: the disk does not take them.
    """
    stored = StoredBatches()
    columns: dict[str, None] = {}
    kinds: dict[str, str] = {}
    odd: dict[str, int] = {}
    for batch in _batches(rows, batch_bytes):
        if not columns:
            number, first = batch[0]
            if not first:
                raise DataError("the first row has no columns", where=place(number), fix="write its columns")
            columns.update(dict.fromkeys(first))
        for number, row in batch:
            if row.keys() != columns.keys():
                odd.update({name: number for name in sorted(row.keys() ^ columns.keys()) if name not in odd})
                columns.update(dict.fromkeys(row))
        stored.append(_record_batch(batch, columns, kinds, place))
    for name, number in odd.items():
        logger.warning("%s: not all rows have the column %r; it is None in the others", place(number), name)
    return stored


def _batches(rows: Iterable[NumberedRow], batch_bytes: int) -> Iterator[list[NumberedRow]]:
    batch: list[NumberedRow] = []
    size = 0
    try:
        for numbered in rows:
            batch.append(numbered)
            if not (len(batch) - 1) % _MEASURED:
                size += _MEASURED * _size(numbered[1])
            if size >= batch_bytes:
                yield batch
                batch, size = [], 0
    except Exception:
        if batch:  # report a fault of an earlier row first
            yield batch
        raise
    if batch:
        yield batch


def _size(value: Any) -> int:
    """About how many bytes a value takes."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, Sequence) else 8


def _record_batch(
    batch: Sequence[NumberedRow], columns: Iterable[str], kinds: dict[str, str], place: Place
) -> pa.RecordBatch:
    """Return the rows as a batch, and add the kinds of values of new columns to ``kinds``."""
    import pyarrow as pa

    fields, arrays = [], []
    for name in columns:
        values = [row.get(name) for _, row in batch]
        found = {_KINDS[kind] for kind in set(map(type, values)) if kind in _KINDS}
        if found and name not in kinds:
            kinds[name] = _KINDS[next(type(value) for value in values if type(value) in _KINDS)]
        if found - {kinds.get(name)}:
            raise _mixed(name, batch, place, kinds)
        try:
            field, made = stored_column(name, values)
        except (pa.ArrowException, OverflowError, UnicodeError):
            raise _misfit(name, batch, place) from None
        fields.append(field)
        arrays.append(made)
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _mixed(name: str, batch: Sequence[NumberedRow], place: Place, kinds: dict[str, str]) -> DataError:
    """Return the error for the first value of another kind than those before it."""
    before = kinds[name]
    number, row = next((n, row) for n, row in batch if _KINDS.get(type(row.get(name)), before) != before)
    what = f"column {name!r} cannot hold {reprlib.repr(row[name])}, {_KINDS[type(row[name])]}, beside {before}"
    fix = "write the same kind of value in every row of the column: all text, or all numbers"
    return DataError(what, where=place(number), fix=fix)


def _misfit(name: str, batch: Sequence[NumberedRow], place: Place) -> DataError:
    """Return the error for the first value of a column that cannot be stored."""
    import pyarrow as pa

    for number, row in batch:
        try:
            stored_column(name, [row.get(name)])
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            what = f"column {name!r} cannot hold {reprlib.repr(row[name])}: {str(error).rpartition(': ')[2]}"
            return DataError(what, where=place(number), fix=_FIX)
    return DataError(f"column {name!r} holds values that do not go together", where=place(batch[0][0]), fix=_FIX)


def stored_column(name: str, values: Sequence[Any]) -> tuple[pa.Field, pa.Array]:
    """Return a column of plain Python values, and its field.

    Raises:
        pyarrow.ArrowException, UnicodeError: there is no such value in Arrow, such as half of a character.
        OverflowError: a whole number has more than 64 bits.
    """
    import pyarrow as pa

    kinds = {type(value) for value in values}
    filled = kinds - {type(None)}
    # `pyarrow.array` would make the same of plain values, but imports pandas for whatever Python values it is given,
    # which takes longer than reading most datasets and a quarter of a small run's memory.
    if kinds == {str}:
        texts = [value.encode() for value in values]
        ends = array("i", accumulate(map(len, texts), initial=0))
        made = pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts)))
    elif kinds in ({int}, {float}):
        kind, code = (pa.int64(), "q") if kinds == {int} else (pa.float64(), "d")
        made = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(array(code, values))])
    elif filled <= {bool} or filled in ({str}, {float}):
        made = pa.array(values)
    else:
        array(
            "q", (value for value in values if type(value) is int)
        )  # raises for more than 64 bits, beside fractions too
        try:
            written = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
        except (TypeError, ValueError):  # what JSON does not have, such as a date
            made = pa.array(values)
        else:
            return pa.field(name, pa.string(), metadata=_JSON), pa.array(written, pa.string())
    return pa.field(name, made.type), made


def rows_of(batch: pa.RecordBatch, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a batch; what it lacks of the columns is None.

    Raises:
        DataError: Python does not have a value, such as a date after the year 9999.
    """
    names = batch.schema.names
    if set(names) - set(columns):
        batch = batch.select([name for name in columns if name in names])
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except (ValueError, OverflowError, ArithmeticError) as error:  # pyarrow's own errors are ValueErrors
        raise _unreadable(batch, error) from error
    for name in [field.name for field in batch.schema if field.metadata == _JSON and field.type == "string"]:
        try:
            for row in rows:
                if row[name] is not None:
                    row[name] = decode(row[name])
        except (ValueError, RecursionError) as error:  # any file can have the metadata
            what = f"the column {name!r} says that it is JSON, and is not: {error}"
            raise DataError(what, fix="take the metadata out of the column") from error
    if batch.schema.names != list(columns):
        rows = [{name: row.get(name) for name in columns} for row in rows]
    return rows


def _unreadable(batch: pa.RecordBatch, error: Exception) -> DataError:
    """Return the error of a batch, with the name of the first column that Python cannot read."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.to_pylist()
        except (ValueError, OverflowError, ArithmeticError) as cause:
            what = f"Python does not have a value of the column {name!r}, of type {column.type}: {cause}"
            return DataError(what, fix="store the column as texts or numbers")
    return DataError(f"Python does not have a value of a row: {error}", fix="store it as a text or number")


class ArrowBatches:
    """The batches of an Arrow table, wherever Arrow keeps them: in memory, or mapped from a file.

    Args:
        table: the table.

    Attributes:
        columns: the names of all columns.
        starts: the number of the first row of each batch, and at the end the number of all rows.
    """

    def __init__(self, table: pa.Table) -> None:
        self.columns: list[str] = table.schema.names
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

    Attributes:
        columns: the names of all columns; a batch may lack some.
        starts: as for `ArrowBatches`.
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
