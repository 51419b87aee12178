"""Rows in an Arrow file, as they travel between this program and the worker."""

from __future__ import annotations

from typing import Any


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
