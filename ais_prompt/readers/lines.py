"""Columns of lists that become texts."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.errors import DataError
from ais_prompt.readers.table import Table


def join_lines(table: Table, columns: Sequence[str]) -> Table:
    """The table with each list of texts in these columns made one text, a line for each entry.

    A template would else write the list as Python does, with brackets and quotes.

    Raises:
        DataError: there is no such column, or it holds something else.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    arrow = table.arrow
    for column in columns:
        kind = arrow.schema.field(column).type if column in table.columns else None
        if kind is None or not (pa.types.is_list(kind) and pa.types.is_string(kind.value_type)):
            raise DataError(
                f"join_lines names {column!r}, " + ("which is no column" if kind is None else f"which holds {kind}"),
                where=", ".join(table.origins),
                mend="name columns of lists of texts",
            )
        joined = pc.binary_join(arrow.column(column), "\n")
        arrow = arrow.set_column(table.columns.index(column), column, joined)
    return Table(arrow, table.origins)
