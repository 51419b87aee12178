"""The protocol of readers, the dataset that ``reader_cfg`` makes of a source, and where the data of a path are.

`select` reads ``train_range`` and ``test_range``, a text by a small grammar, which is never evaluated::

    range   = [ term { "+" term } ]          an empty text takes all rows
    term    = bracket { bracket }            "[:100][::2]": a bracket picks from what the one before it left
    bracket = "[" slice "]" | "[" row { "," row } "]"
    slice   = [start] ":" [stop] [ ":" [step] ]

with whole numbers that mean what they mean for a Python list: from 0, and negative ones from the end.
"""

from __future__ import annotations

import logging
import random
import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Protocol, Self, overload

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import expand
from ais_prompt.data.table import Row, RowIds, Table
from ais_prompt.errors import AisPromptError, ConfigError, DataError
from ais_prompt.steps import steps
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


class LazySamples(Sequence[Sample], ABC):
    """Samples of some rows, made on access, so that a large dataset takes little memory.

    A slice is one too, and counts from 0 again.

    Args:
        rows: the numbers of the rows, in the order of the samples.
    """

    def __init__(self, rows: Sequence[int]) -> None:
        self._rows = rows

    @abstractmethod
    def made(self, row: int, index: int) -> Sample:
        """Return the sample of a row; ``index`` is its position in this sequence."""

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Sample | Self:
        """Return a sample, or the samples of a slice.

        Raises:
            DataError: the data of the sample cannot be used.
            IndexError: there is no such sample.
        """
        if isinstance(index, slice):
            part = copy(self)
            part._rows = self._rows[index]
            return part
        return self.made(self._rows[index], index % len(self))

    def __iter__(self) -> Iterator[Sample]:
        return (self.made(row, index) for index, row in enumerate(self._rows))


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
        gold = None if self._spec.output_column is None else fields[self._spec.output_column]
        if self._spec.gold_columns:
            gold = {column: fields[column] for column in self._spec.gold_columns}
        return Sample(self._ids[row], index, fields, gold, self._table.row_ids[row])

    @cached_property
    def _ids(self) -> RowIds:
        """The ids by the columns of the question, so that a corrected gold keeps the id.

        Without ``input_columns`` they are all columns but those of the gold, or else all.
        """
        golds = {self._spec.output_column, *self._spec.gold_columns}
        others = [column for column in self._table.columns if column not in golds]
        return self._table.ids_by(self._spec.input_columns or others or self._table.columns)

    def check_columns(self) -> None:
        """Check that every column that the `ReaderSpec` names exists.

        Raises:
            DataError: one does not.
        """
        spec = self._spec
        outputs = () if spec.output_column is None else (spec.output_column,)
        named = {"input_columns": spec.input_columns, "output_column": outputs, "gold_columns": spec.gold_columns}
        has = self._table.columns
        for key, columns in named.items():
            for column in columns:
                if column not in has:
                    near = nearest(column, has)
                    raise DataError(
                        f"no column {column!r} (it has {listed(map(repr, has))})",
                        where=listed(self._table.origins),
                        fix=(f"did you mean {near!r}? " if near else "")
                        + f"Rename the column, or set {key} of reader_cfg",
                    )


_EXAMPLES = "'[:100]', '[10:20]', '[::2]', '[-5:]', '[0, 5, 7]', '[:1] + [2]', or a number of rows such as 100"
# Eighteen digits are more rows than there are, and fit into 64 bits.
_NUMBER = r"\s*-?[0-9]{1,18}\s*"
_TERM = re.compile(r"\s*(?:\[[^\[\]]*\]\s*)+")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_SLICE = re.compile(rf"({_NUMBER}|\s*):({_NUMBER}|\s*)(?::({_NUMBER}|\s*))?")
_ROWS = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*,?\s*")


def select(wanted: int | float | str | None, size: int) -> Sequence[int]:
    """Return the numbers of the selected rows in order; a `range` if they are consecutive.

    Args:
        wanted: a text as above; a number of rows, which are drawn at random with the number itself as the seed (as
            OpenCompass and AISBench do, so the same questions are asked); a fraction of the rows, drawn likewise;
            None, 0, a negative number or ``size`` and more for all rows in their own order.
        size: rows in the split.

    Raises:
        ConfigError: the text is not a range, or names a row that is not there; the number is not whole.
    """
    if wanted is None or (isinstance(wanted, str) and not wanted.strip()):
        return range(size)
    if isinstance(wanted, str):
        picked: list[Sequence[int]] = []
        for term in wanted.split("+"):
            if not _TERM.fullmatch(term):
                raise _not_a_range(wanted)
            rows: Sequence[int] = range(size)
            for bracket in _BRACKET.findall(term):
                rows = _pick(bracket, rows, wanted)
            picked.append(rows)
        return picked[0] if len(picked) == 1 else array("q", chain.from_iterable(picked))
    if 0 < wanted < 1:
        return _drawn(int(wanted * size), size)
    if wanted <= 0 or wanted >= size:
        return range(size)
    if not float(wanted).is_integer():
        raise ConfigError(f"the range {wanted} is not a whole number of rows", fix=f"write {_EXAMPLES}")
    return _drawn(int(wanted), size)


def _drawn(number: int, size: int) -> Sequence[int]:
    rows = array("q", range(size))
    random.Random(number).shuffle(rows)
    return rows[:number]


def _pick(bracket: str, rows: Sequence[int], text: str) -> Sequence[int]:
    """Return the rows that one bracket selects from those before it."""
    if match := _SLICE.fullmatch(bracket):
        start, stop, step = (int(part) if part and part.strip() else None for part in match.groups())
        if step == 0:
            raise ConfigError(f"the range {text!r} has a step of 0", fix="take a step of 1 or more")
        return rows[start:stop:step]
    if not _ROWS.fullmatch(bracket):
        raise _not_a_range(text)
    try:
        return [rows[int(number)] for number in bracket.split(",") if number.strip()]
    except IndexError:
        raise ConfigError(
            f"the range {text!r} names a row that is not there: the rows are 0 to {len(rows) - 1}"
            if rows
            else f"the range {text!r} names a row, but there are no rows",
            fix="name rows that the split has",
        ) from None


def _not_a_range(text: str) -> ConfigError:
    return ConfigError(f"{text!r} is not a range of rows", fix=f"write {_EXAMPLES}")


def find_data(path: str) -> Path | None:
    """Return the file or folder that a path or id means; None if it is nowhere.

    Args:
        path: an absolute path, a relative one such as ``./data/gpqa/``, or an id that an extension knows.
    """
    return next((place for place in data_places(path) if place.exists()), None)


def require_data(path: str) -> Path:
    """Return what `find_data` finds.

    Raises:
        DataError: it is nowhere; the error lists the places, and how to get it.
    """
    found = find_data(path)
    if found is None:
        raise missing_data(path)
    return found


def data_places(path: str) -> list[Path]:
    """Return the places where a path or id may be, the first that exists counts."""
    return _known(path)[0]


def missing_data(path: str) -> DataError:
    """Return the error for data that are nowhere."""
    places, fix = _known(path)
    return DataError(f"no data for {path!r}", where=f"looked for {listed(map(str, places))}", fix=fix)


def _known(path: str) -> tuple[list[Path], str]:
    """Return the places of data, and how to get them."""
    known = [found for find in steps("find_data") if (found := find(path)) is not None]
    if not known:
        return [expand(path)], "put it there"
    return [place for places, _ in known for place in places], "; or ".join(fix for _, fix in known)
