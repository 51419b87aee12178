"""Rows of plain Python values → an Arrow table, by rule S2 of OpenCompass' data sets.

The first row names the columns. Where a later row lacks one it is None, and a column that only later rows have is left
out; whole numbers and fractions in one column all become floats. Any other mixture is an error. All of this is said:
none of it may change a prompt in silence.
"""

from __future__ import annotations

import logging
import reprlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from ais_prompt.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

_LONGEST_TEXTS = 2**31 - 1
"""Most bytes of a column whose texts begin at 32-bit offsets."""

Place: TypeAlias = Callable[[int], str]
"""From the number of a line or row to the words that tell the user where that is."""


def table_of_rows(rows: Iterable[tuple[int, dict[str, Any]]], place: Place) -> pa.Table:
    """An Arrow table of numbered rows; without a row it has no columns.

    Raises:
        DataError: the first row has no columns, or values of one column do not go together; it names the row.
    """
    import pyarrow as pa

    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    odd: set[str] = set()
    for number, row in rows:
        if not numbers:
            columns = {name: [] for name in row}
        if not columns:
            raise DataError("the first row has no columns", where=place(number), mend="the first row names the columns")
        for name in sorted((row.keys() ^ columns.keys()) - odd):
            _warn(name, missing=name in columns, where=place(number))
            odd.add(name)
        numbers.append(number)
        for name, values in columns.items():
            values.append(row.get(name))
    return pa.table({name: _array(name, values, numbers, place) for name, values in columns.items()})


def _warn(name: str, *, missing: bool, where: str) -> None:
    what = "is missing in this row and becomes None" if missing else "is not in the first row and is left out"
    logger.warning("%s: the column %r %s; the same for later rows", where, name, what)


def _array(name: str, values: list[Any], numbers: list[int], place: Place) -> pa.Array:
    import pyarrow as pa

    def fault(rows: int) -> str | None:
        """Why the first ``rows`` values are no column; None if they are one."""
        try:
            pa.array(values[:rows])
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            return str(error).rpartition(": ")[2]
        return None

    try:
        column = _text_array(values)
        column = pa.array(values) if column is None else column
    except (pa.ArrowException, OverflowError, UnicodeError):
        row = bisect_left(range(len(values)), True, key=lambda row: fault(row + 1) is not None)
        raise DataError(
            f"column {name!r} cannot hold {reprlib.repr(values[row])} beside the rows before: {fault(row + 1)}",
            where=place(numbers[row]),
            mend="write the same kind of value in every row of the column: all text, or all numbers",
        ) from None
    if pa.types.is_floating(column.type):
        _warn_of_floats(name, values, numbers, place)
    return column


def _text_array(values: list[Any]) -> pa.Array | None:
    """The column of values that are all texts; None for others.

    `pyarrow.array` would make the same, but imports pandas for whatever Python values it is given, which takes longer
    than reading most data sets and a quarter of a small run's memory.
    """
    import pyarrow as pa

    if not all(type(value) is str for value in values):
        return None
    texts = [value.encode() for value in values]
    ends = [0, *accumulate(map(len, texts))]
    if ends[-1] > _LONGEST_TEXTS:
        return None
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(array("i", ends)), pa.py_buffer(b"".join(texts)))


def _warn_of_floats(name: str, values: list[Any], numbers: list[int], place: Place) -> None:
    whole = next((number for number, value in zip(numbers, values, strict=True) if isinstance(value, int)), None)
    if whole is not None:
        what = "has whole numbers beside fractions and becomes all floats, 1 → 1.0"
        logger.warning("%s: the column %r %s", place(whole), name, what)
