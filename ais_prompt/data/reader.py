"""The protocol of readers, and the dataset that ``reader_cfg`` makes of a source."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.data.lazy_samples import LazySamples
from ais_prompt.data.ranges import select
from ais_prompt.data.table import Row, RowIds, Table
from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.types import ReaderSpec, Sample
from ais_prompt.utils import digest, listed, nearest

logger = logging.getLogger(__name__)

_DEFAULT_TRAIN = "train"
_ONLY_SPLIT_SERVES_AS = (_DEFAULT_TRAIN, "test")


class Reader(Protocol):
    """Read the splits of a source. Making a reader is cheap: nothing is opened before the first call."""

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits.

        Raises:
            DataError: the source is not there or cannot be read.
        """

    def read(self, split: str) -> Table:
        """Return all rows of a split that `splits` names.

        Raises:
            DataError: it cannot be read, or its content is malformed.
        """


class Dataset(Struct, frozen=True):
    """A dataset after ``reader_cfg`` was applied.

    Attributes:
        train: where the shots are taken from; empty if the source has no such split.
        test: the questions.
        columns: names of the columns of the test split.
        tables: what was read, before any range: split → all of its rows.
    """

    train: Sequence[Sample]
    test: Sequence[Sample]
    columns: tuple[str, ...]
    tables: Mapping[str, Table]

    @property
    def digest(self) -> str:
        """Return a digest of all rows that were read, used or not."""
        return digest({split: table.digest for split, table in self.tables.items()})

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the files that were read."""
        return tuple(dict.fromkeys(origin for table in self.tables.values() for origin in table.origins))


def load_dataset(reader: Reader, spec: ReaderSpec) -> Dataset:
    """Read a dataset and cut it to its ranges.

    A source with a single split serves as train and test at once. Without the split ``train`` there are no shots, which
    a retriever that needs some will say; any other name must be there.

    Raises:
        DataError: a split or a column is not there, or the source cannot be read.
        ConfigError: a range cannot be used; ``where`` is its place in the config.
    """
    splits = reader.splits()
    test_split = _find(spec.test_split, splits, f"{spec.where}.test_split")
    no_train = len(splits) > 1 and spec.train_split == _DEFAULT_TRAIN and _DEFAULT_TRAIN not in splits
    train_split = None if no_train else _find(spec.train_split, splits, f"{spec.where}.train_split")
    names = dict.fromkeys(split for split in (train_split, test_split) if split is not None)
    tables = {split: reader.read(split) for split in names}
    spec = _with_present_columns(spec, tables[test_split]) if spec.allow_missing else spec
    test = _cut(tables[test_split], spec, spec.test_range, "test_range")
    test.check_columns()
    train = _cut(tables[train_split], spec, spec.train_range, "train_range") if train_split is not None else ()
    return Dataset(train, test, tables[test_split].columns, tables)


def _find(wanted: str, splits: tuple[str, ...], where: str) -> str:
    if wanted in splits:
        return wanted
    if len(splits) == 1 and wanted in _ONLY_SPLIT_SERVES_AS:
        return splits[0]
    near = nearest(wanted, splits)
    raise DataError(
        f"no split {wanted!r} (there {'is' if len(splits) == 1 else 'are'} {listed(map(repr, splits))})",
        where=where,
        fix=f"did you mean {near!r}?" if near else f"set {where.rpartition('.')[2]} of reader_cfg to one of them",
    )


def _with_present_columns(spec: ReaderSpec, table: Table) -> ReaderSpec:
    """Return the spec without the input columns that a table lacks."""
    present = tuple(column for column in spec.input_columns if column in table.columns)
    if missing := [column for column in spec.input_columns if column not in present]:
        there = listed(map(repr, table.columns))
        logger.warning("%s: the data have no column %s (there are %s)", spec.where, listed(map(repr, missing)), there)
    return replace(spec, input_columns=present)


def _cut(table: Table, spec: ReaderSpec, wanted: int | float | str | None, key: str) -> Samples:
    try:
        return Samples(table, select(wanted, len(table)), spec)
    except AisPromptError as error:
        error.where = f"{spec.where}.{key}"
        raise


class Samples(LazySamples):
    """The samples of a split.

    Args:
        table: all rows of the split.
        rows: the rows that are used, in this order.
        spec: which columns there must be, and which one holds the gold answer.
    """

    def __init__(self, table: Table, rows: Sequence[int], spec: ReaderSpec) -> None:
        super().__init__(rows)
        self._table = table
        self._spec = spec

    def made(self, row: int, index: int) -> Sample:
        """Return a sample.

        Raises:
            DataError: the split lacks a column of the `ReaderSpec`.
        """
        self.check_columns()
        return self._sample(index, row, self._table.row(row))

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
        spec = self._spec
        outputs = () if spec.output_column is None else (spec.output_column,)
        named = {"input_columns": spec.input_columns, "output_column": outputs, "gold_columns": spec.gold_columns}
        for key, columns in named.items():
            for column in columns:
                if column not in self._table.columns:
                    raise self._no_column(column, key)

    def _gold(self, fields: Mapping[str, Any]) -> Any:
        if self._spec.gold_columns:
            return {column: fields[column] for column in self._spec.gold_columns}
        return None if self._spec.output_column is None else fields[self._spec.output_column]

    def _no_column(self, column: str, key: str) -> DataError:
        has = listed(map(repr, self._table.columns))
        near = nearest(column, self._table.columns)
        return DataError(
            f"no column {column!r} (it has {has})",
            where=listed(self._table.origins),
            fix=(f"did you mean {near!r}? " if near else "") + f"Rename the column, or set {key} of reader_cfg",
        )


def id_columns(spec: ReaderSpec, columns: Sequence[str]) -> Sequence[str]:
    """Return the columns that make the id of a sample: the question's, so that a corrected gold keeps the id.

    Without ``input_columns`` they are all columns but those of the gold, or else all.
    """
    golds = {spec.output_column, *spec.gold_columns}
    return spec.input_columns or [column for column in columns if column not in golds] or columns
