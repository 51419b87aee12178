"""The protocol of readers, and the dataset that ``reader_cfg`` makes of what they read."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, DataError
from ais_prompt.readers.ranges import select
from ais_prompt.readers.samples import Samples
from ais_prompt.readers.table import Table
from ais_prompt.types import ReaderSpec, Sample
from ais_prompt.utils.digest import digest
from ais_prompt.utils.text import listed

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
    near = difflib.get_close_matches(wanted, splits, n=1)
    raise DataError(
        f"no split {wanted!r} (there {'is' if len(splits) == 1 else 'are'} {listed(map(repr, splits))})",
        where=where,
        fix=f"did you mean {near[0]!r}?" if near else f"set {where.rpartition('.')[2]} of reader_cfg to one of them",
    )


def _with_present_columns(spec: ReaderSpec, table: Table) -> ReaderSpec:
    """Return the spec without the input columns that a table lacks."""
    present = tuple(column for column in spec.input_columns if column in table.columns)
    if missing := [column for column in spec.input_columns if column not in present]:
        logger.warning("%s: the data have no column %s", spec.where, listed(map(repr, missing)))
    return replace(spec, input_columns=present)


def _cut(table: Table, spec: ReaderSpec, wanted: int | float | str | None, key: str) -> Samples:
    try:
        return Samples(table, select(wanted, len(table)), spec)
    except AisPromptError as error:
        error.where = f"{spec.where}.{key}"
        raise
