"""Columns of lists that become texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ais_prompt.errors import DataError
from ais_prompt.readers.arrow.batches import StoredBatches
from ais_prompt.readers.arrow.table import Table
from ais_prompt.utils.text import listed

if TYPE_CHECKING:
    import pyarrow as pa


def join_lines(table: Table, columns: Sequence[str]) -> Table:
    """The table with each list of texts in these columns made one text, a line for each entry.

    A template would else write the list as Python does, with brackets and quotes.

    Raises:
        DataError: there is no such column, or it holds something else.
    """
    for column in columns:
        _check(table, column)
    stored = StoredBatches()
    for batch in table.batches:
        stored.append(_joined(batch, columns))
    return Table(stored, table.origins)


def _check(table: Table, column: str) -> None:
    import pyarrow as pa

    kind = table.batches.schema.field(column).type if column in table.columns else None
    if kind is None or not (pa.types.is_list(kind) and pa.types.is_string(kind.value_type)):
        raise DataError(
            f"join_lines names {column!r}, " + ("which is no column" if kind is None else f"which holds {kind}"),
            where=listed(table.origins),
            fix="name columns of lists of texts",
        )


def _joined(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    import pyarrow.compute as pc

    for column in columns:
        batch = batch.set_column(batch.schema.names.index(column), column, pc.binary_join(batch.column(column), "\n"))
    return batch
