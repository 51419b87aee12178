"""Rows in an Arrow file, as they travel between this program and the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.errors import DataError


def write_rows(rows: Sequence[Mapping[str, Any]], file: str) -> None:
    """Write rows as an Arrow file, with the types that the package ``datasets`` finds in them, as the peers do.

    Raises:
        DataError: a column has values of different kinds, such as texts and numbers.
    """
    import pyarrow as pa

    columns = dict.fromkeys(name for row in rows for name in row)
    arrays = {}
    for column in columns:
        try:
            arrays[column] = pa.array([row.get(column) for row in rows])
        except (pa.ArrowException, OverflowError) as error:
            raise DataError(
                f"the column {column!r} has values that `datasets` does not hold together: {error}",
                fix="give all values of the column one type; the parts of OpenCompass and AISBench need it",
            ) from None
    write_table(pa.table(arrays), file)


def write_table(table: Any, file: str) -> None:
    """Write a `pyarrow.Table` as an Arrow file."""
    import pyarrow as pa

    with pa.OSFile(file, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_table(file: str) -> Any:
    """Return the `pyarrow.Table` of an Arrow file."""
    import pyarrow as pa

    with pa.OSFile(file) as source:
        return pa.ipc.open_file(source).read_all()
