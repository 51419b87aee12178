"""Rows of plain Python values → Arrow batches, from which each value comes back exactly as it was written.

A column of one row is a column of all; where a row lacks it, it is None. That is said, since it may change a prompt.
Where one batch ends and the next begins makes no difference.
"""

from __future__ import annotations

import logging
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ais_prompt.errors import DataError
from ais_prompt.readers.arrow.batches import BATCH_BYTES, StoredBatches
from ais_prompt.readers.arrow.columns import stored_column

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
