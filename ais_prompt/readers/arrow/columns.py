"""Values of one column and batch → an Arrow array, from which each comes back exactly as it was written.

Texts, whole numbers, fractions and truth values have the Arrow type of their kind. Everything else that JSON has is
stored as JSON, value by value: objects and lists, and whole numbers beside fractions, since
Arrow would fill objects up with the keys of others, and turn 5 into 5.0 beside 7.5.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from ais_prompt.errors import DataError
from ais_prompt.utils.jsonl import decode

if TYPE_CHECKING:
    import pyarrow as pa

_JSON: Final = {b"ais_prompt": b"json"}
"""Metadata of a field whose texts are JSON."""


def stored_column(name: str, values: Sequence[Any]) -> tuple[pa.Field, pa.Array]:
    """Return a column of plain Python values, and its field.

    Raises:
        pyarrow.ArrowException, UnicodeError: there is no such value in Arrow, such as half of a character.
        OverflowError: a whole number has more than 64 bits.
    """
    import pyarrow as pa

    kinds = {type(value) for value in values}
    if len(kinds) == 1 and (make := _ARRAYS.get(next(iter(kinds)))):
        made = make(values)
        return pa.field(name, made.type), made
    if (kinds := kinds - {type(None)}) <= {bool} or (len(kinds) == 1 and kinds & {str, float}):
        made = pa.array(values)
        return pa.field(name, made.type), made
    array("q", (value for value in values if type(value) is int))  # raises for more than 64 bits, beside fractions too
    try:
        texts = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    except (TypeError, ValueError):  # what JSON does not have, such as a date
        made = pa.array(values)
        return pa.field(name, made.type), made
    return pa.field(name, pa.string(), metadata=_JSON), pa.array(texts, pa.string())


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


def _texts(values: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    texts = [value.encode() for value in values]
    ends = array("i", accumulate(map(len, texts), initial=0))
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts)))


def _whole_numbers(values: Sequence[int]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(array("q", values))])


def _fractions(values: Sequence[float]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(array("d", values))])


# `pyarrow.array` would make the same, but imports pandas for whatever Python values it is given, which takes longer
# than reading most datasets and a quarter of a small run's memory.
_ARRAYS: Final[Mapping[type, Callable[[Sequence[Any]], pa.Array]]] = {
    str: _texts,
    int: _whole_numbers,
    float: _fractions,
}
