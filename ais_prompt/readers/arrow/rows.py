"""Rows of plain Python values → Arrow batches, by rule S2 of OpenCompass' datasets.

The first row names the columns. Where a later row lacks one it is None, and a column that only later rows have is left
out; whole numbers and fractions in one column all become floats. Any other mixture is an error. All of this is said:
none of it may change a prompt in silence. Where one batch ends and the next begins makes no difference.
"""

from __future__ import annotations

import logging
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ais_prompt.errors import DataError
from ais_prompt.readers.arrow.batches import BATCH_BYTES, StoredBatches
from ais_prompt.readers.arrow.columns import Column

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

Place: TypeAlias = Callable[[int], str]
"""From the number of a line or row to the words that tell the user where that is."""

NumberedRow: TypeAlias = tuple[int, dict[str, Any]]
"""The number of a line or row, and its values by column."""

_MEASURED: Final = 8
"""Of so many rows the size of one is measured."""

_ONE_COLUMN: Final = "write the same kind of value in every row of the column: all text, or all numbers"
_ANY_COLUMN: Final = "write whole characters, numbers of at most 64 bits, and in each list values of one kind"


def store_rows(rows: Iterable[NumberedRow], place: Place, batch_bytes: int = BATCH_BYTES) -> StoredBatches:
    """Batches of numbered rows; without a row they have no columns.

    Args:
        rows: the rows.
        place: tells where one of them is.
        batch_bytes: about how large a batch is.

    Raises:
        DataError: the first row has no columns, or values of one column do not go together; it names the row.
        StoreError: the disk does not take them.
    """
    stored = StoredBatches()
    columns: dict[str, Column] = {}
    odd: dict[str, int] = {}
    for batch in _batches(rows, batch_bytes):
        columns = columns or _first_columns(batch[0], place)
        names = columns.keys()
        for number, others in [(number, row.keys() ^ names) for number, row in batch if row.keys() != names]:
            odd.update({name: number for name in sorted(others) if name not in odd})
        stored.append(_record_batch(batch, columns, place))
    _warn_of_columns(odd, columns, place)
    _warn_of_floats(columns, place)
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


def _first_columns(first: NumberedRow, place: Place) -> dict[str, Column]:
    number, row = first
    if not row:
        raise DataError("the first row has no columns", where=place(number), fix="the first row names the columns")
    return {name: Column() for name in row}


def _record_batch(batch: Sequence[NumberedRow], columns: Mapping[str, Column], place: Place) -> pa.RecordBatch:
    import pyarrow as pa

    numbers = [number for number, _ in batch]
    arrays, misfits = {}, {}
    for name, column in columns.items():
        values = [row.get(name) for _, row in batch]
        arrays[name] = column.convert(values, numbers)
        if arrays[name] is None:
            misfits[name] = column.misfit(values)
    if misfits:
        name = min(misfits, key=lambda name: misfits[name].place)
        misfit = misfits[name]
        number, row = batch[misfit.place]
        beside = "" if misfit.alone else " beside the rows before"
        raise DataError(
            f"column {name!r} cannot hold {reprlib.repr(row.get(name))}{beside}: {misfit.why}",
            where=place(number),
            fix=_ANY_COLUMN if misfit.alone else _ONE_COLUMN,
        )
    return pa.RecordBatch.from_pydict(arrays)


def _warn_of_columns(odd: Mapping[str, int], columns: Mapping[str, Column], place: Place) -> None:
    for name, number in odd.items():
        missing = name in columns
        what = "is missing in this row and becomes None" if missing else "is not in the first row and is left out"
        logger.warning("%s: the column %r %s; the same for later rows", place(number), name, what)


def _warn_of_floats(columns: Mapping[str, Column], place: Place) -> None:
    for name, column in columns.items():
        if column.is_floating and column.first_whole is not None:
            what = "has whole numbers beside fractions and becomes all floats, 1 → 1.0"
            logger.warning("%s: the column %r %s", place(column.first_whole), name, what)
