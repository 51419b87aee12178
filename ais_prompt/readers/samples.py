"""The samples of a split, made on access, so that a large dataset takes little memory."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

from ais_prompt.errors import DataError
from ais_prompt.readers.table import Row, RowIds, Table
from ais_prompt.types import ReaderSpec, Sample
from ais_prompt.utils.text import listed


class Samples(Sequence[Sample]):
    """A lazy sequence of samples. A slice is one too, and counts from 0 again.

    Args:
        table: all rows of the split.
        rows: the rows that are used, in this order.
        spec: which columns there must be, and which one holds the gold answer.
    """

    def __init__(self, table: Table, rows: Sequence[int], spec: ReaderSpec) -> None:
        self._table = table
        self._rows = rows
        self._spec = spec

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Samples: ...
    def __getitem__(self, index: int | slice) -> Sample | Samples:
        """Return a sample, or the samples of a slice.

        Raises:
            DataError: the split lacks a column of the `ReaderSpec`.
            IndexError: there is no such sample.
        """
        if isinstance(index, slice):
            return Samples(self._table, self._rows[index], self._spec)
        self.check_columns()
        row = self._rows[index]
        return self._sample(index % len(self), row, self._table.row(row))

    def __iter__(self) -> Iterator[Sample]:
        """Yield all samples; much faster than access one by one if the rows are consecutive.

        Raises:
            DataError: the split lacks a column of the `ReaderSpec`.
        """
        if self._rows:
            self.check_columns()
        for index, (row, fields) in enumerate(zip(self._rows, self._table.rows(self._rows), strict=True)):
            yield self._sample(index, row, fields)

    def _sample(self, index: int, row: int, fields: Row) -> Sample:
        return Sample(self._ids[row], index, fields, self._gold(fields), self._table.row_ids[row])

    @cached_property
    def _ids(self) -> RowIds:
        return self._table.ids_by(id_columns(self._spec, self._table.columns))

    def check_columns(self) -> None:
        """Check that every column that the `ReaderSpec` names exists.

        Raises:
            DataError: one does not.
        """
        for column in self._spec.input_columns:
            if column not in self._table.columns:
                raise self._no_column(column, "input_columns")
        output = self._spec.output_column
        if output is not None and output not in self._table.columns:
            raise self._no_column(output, "output_column")
        for column in self._spec.gold_columns:
            if column not in self._table.columns:
                raise self._no_column(column, "gold_columns")

    def _gold(self, fields: Mapping[str, Any]) -> Any:
        if self._spec.gold_columns:
            return {column: fields[column] for column in self._spec.gold_columns}
        return None if self._spec.output_column is None else fields[self._spec.output_column]

    def _no_column(self, column: str, key: str) -> DataError:
        has = listed(map(repr, self._table.columns))
        near = difflib.get_close_matches(column, self._table.columns, n=1)
        return DataError(
            f"no column {column!r} (it has {has})",
            where=listed(self._table.origins),
            fix=(f"did you mean {near[0]!r}? " if near else "") + f"Rename the column, or set {key} of reader_cfg",
        )


def id_columns(spec: ReaderSpec, columns: Sequence[str]) -> Sequence[str]:
    """Return the columns that make the id of a sample: the question's, so that a corrected gold keeps the id.

    Without ``input_columns`` they are all columns but those of the gold, or else all.
    """
    golds = {spec.output_column, *spec.gold_columns}
    return spec.input_columns or [column for column in columns if column not in golds] or columns
