"""Join the tables of several files, and the lines of a column."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ais_prompt.errors import DataError
from ais_prompt.readers.arrow.batches import StoredBatches, widened
from ais_prompt.readers.arrow.table import Table
from ais_prompt.utils.text import listed

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)


def _warn_of_other_columns(first: Sequence[str], tables: Sequence[Table]) -> None:
    for table in tables:
        if odd := sorted(set(first) ^ set(table.columns)):
            logger.warning("%s: the columns %s are not in all files; the first file's count", table.origins[0], odd)


def join_tables(tables: Sequence[Table]) -> Table:
    """Concatenate tables. The first one names the columns, as the first row does in a file (rule S2).

    Raises:
        DataError: a column holds different kinds of values in two of them.
    """
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    origins = [origin for table in tables for origin in table.origins]
    first = list(tables[0].columns)
    _warn_of_other_columns(first, tables[1:])
    stored = StoredBatches()
    try:
        whole = pa.unify_schemas([table.batches.schema for table in tables], promote_options="permissive")
        schema = pa.schema([whole.field(name) for name in first])
        for table in tables:
            for batch in table.batches:
                stored.append(_fitted(batch, schema))
    except pa.ArrowException as error:
        raise DataError(
            f"the files of one split do not go together: {str(error).partition(chr(10))[0]}",
            where=listed(origins),
            fix="write the same kind of value in every row of a column, in all files",
        ) from None
    return Table(stored, origins)


def _fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the batch with the columns of a schema; a missing column is None."""
    import pyarrow as pa

    names = set(batch.schema.names)
    columns = [
        widened(batch.column(field.name), field.type) if field.name in names else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def join_lines(table: Table, columns: Sequence[str]) -> Table:
    """Join each list of texts in these columns into one text, one entry a line.

    Without it a template would show the list with brackets and quotes.

    Raises:
        DataError: a column does not exist, or does not hold lists of texts.
    """
    for column in columns:
        _check_lines(table, column)
    stored = StoredBatches()
    for batch in table.batches:
        stored.append(_with_joined_lines(batch, columns))
    return Table(stored, table.origins)


def _check_lines(table: Table, column: str) -> None:
    import pyarrow as pa

    kind = table.batches.schema.field(column).type if column in table.columns else None
    if kind is None or not (pa.types.is_list(kind) and pa.types.is_string(kind.value_type)):
        raise DataError(
            f"join_lines names {column!r}, " + ("which is no column" if kind is None else f"which holds {kind}"),
            where=listed(table.origins),
            fix="name columns of lists of texts",
        )


def _with_joined_lines(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    import pyarrow.compute as pc

    for column in columns:
        batch = batch.set_column(batch.schema.names.index(column), column, pc.binary_join(batch.column(column), "\n"))
    return batch
