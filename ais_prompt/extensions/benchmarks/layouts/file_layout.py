"""How a benchmark is kept: which file is which split, how its raw rows are read, and the columns of a row."""

from __future__ import annotations

import csv
import json
import string
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.data import Row, reading
from ais_prompt.errors import DataError
from ais_prompt.utils import check_regular, counted, read_objects

Numbered: TypeAlias = tuple[int, Any]
"""The number of a line or item, and its raw value."""
CIRCLE: Final = ("ABCD", "BCDA", "CDAB", "DABC")
"""The orders in which four options are shown in turn."""


def jsonl(path: Path) -> Iterator[Numbered]:
    """Yield the objects of a JSONL file with their lines."""
    with reading(path):
        check_regular(path)
        with path.open("rb") as lines:
            yield from read_objects(lines, str(path))


def json_items(path: Path) -> Iterator[Numbered]:
    """Yield the items of a JSON list, or the values of a JSON object."""
    value = _json(path)
    yield from enumerate(value.values() if isinstance(value, Mapping) else value)


def json_whole(path: Path) -> Iterator[Numbered]:
    """Yield what a JSON file holds, as one item."""
    yield 0, _json(path)


def csv_records(path: Path, delimiter: str = ",") -> Iterator[Numbered]:
    """Yield the records of a CSV file as lists of texts, a header included."""
    csv.field_size_limit(sys.maxsize)
    with reading(path):
        check_regular(path)
        with path.open(encoding="utf-8-sig", newline="") as text:
            records = csv.reader(text, delimiter=delimiter)
            for record in records:
                yield records.line_num, record


def tsv_records(path: Path) -> Iterator[Numbered]:
    """Yield the records of a file with tabs between its fields."""
    return csv_records(path, "\t")


def tabbed_lines(path: Path) -> Iterator[Numbered]:
    """Yield the lines of a file, cut at tabs; quotes mean nothing."""
    with reading(path):
        check_regular(path)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield number, line.strip().split("\t")


def csv_rows(path: Path) -> Iterator[Numbered]:
    """Yield the rows of a CSV file by the names in its header."""
    records = csv_records(path)
    _, header = next(records, (0, []))
    for line, record in records:
        yield line, dict(zip(header, record, strict=False))


def by_ending(path: Path) -> Iterator[Numbered]:
    """Yield the rows of a CSV file, or of a JSONL file with any other ending."""
    return csv_rows(path) if path.suffix == ".csv" else jsonl(path)


def jsonl_with_labels(path: Path) -> Iterator[Numbered]:
    """Yield the objects of ``dev.jsonl``, each with the number in the same line of ``dev-labels.lst`` as ``label``."""
    labels = path.with_name(f"{path.stem}-labels.lst")
    with reading(labels):
        numbers = labels.read_text(encoding="utf-8").splitlines()
    rows = list(jsonl(path))
    if len(rows) != len(numbers):
        what = f"{counted(len(rows), 'row')}, but {counted(len(numbers), 'label')} in {labels.name}"
        fix = "copy both files again"
        raise DataError(what, where=str(path), fix=fix)
    for (line, row), number in zip(rows, numbers, strict=True):
        yield line, {**row, "label": int(number)}


def source_and_target(path: Path) -> Iterator[Numbered]:
    """Yield the lines of ``test.src.txt`` as ``content``, each with that of ``test.tgt.txt`` as ``abst``."""
    target = path.with_name(path.name.replace(".src.", ".tgt."))
    columns = []
    for file in (path, target):
        with reading(file):
            columns.append(file.read_text(encoding="utf-8").splitlines())
    for number, (content, abst) in enumerate(zip(*columns, strict=False), 1):
        yield number, {"content": content.strip(), "abst": abst.strip()}


def _json(path: Path) -> Any:
    with reading(path):
        check_regular(path)
        text = path.read_text(encoding="utf-8-sig")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}"
        raise DataError(f"the file is not JSON: {error.msg}", where=where, fix="copy it again") from None


class Call(Struct, frozen=True):
    """What is read.

    Attributes:
        split: the name of the split.
        arguments: the arguments of the dataset in the config, without ``path``, after defaults.
    """

    split: str
    arguments: Mapping[str, Any]


HUB_ARGUMENTS: Final = ("name", "split", "data_files", "revision")
"""Arguments of a dataset that `datasets.load_dataset` is given, besides ``path``."""

Rows: TypeAlias = Callable[[Iterator[Any], Call], Iterable[Row]]
"""From the raw values of a split to its rows."""


class Layout(Struct, frozen=True):
    """The files of a benchmark.

    Attributes:
        files: split → file below the folder ``path``, or several files; ``{name}`` is an argument.
        rows: makes the rows of a split.
        read: reads the raw values of a file.
        alone: the splits that ``path`` serves if it is a file; empty if it must be a folder.
        defaults: arguments that may be left out → their values.
        loaded: for a dataset that `datasets` loads, from the hub or a folder: returns the arguments of
            `HuggingFaceDataset` but for the path, from those of the dataset.
        source: what brings the files, if one of them is absent; empty for the usual advice.
    """

    files: Mapping[str, str | Sequence[str]]
    rows: Rows
    read: Callable[[Path], Iterator[Numbered]] = jsonl
    alone: Sequence[str] = ()
    defaults: Mapping[str, Any] = {}
    loaded: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    source: str = ""

    @property
    def required(self) -> set[str]:
        """The arguments that have no default; for a single file they may be missing."""
        patterns = [file for files in self.files.values() for file in ([files] if isinstance(files, str) else files)]
        fields = {name for pattern in patterns for _, name, _, _ in string.Formatter().parse(pattern) if name}
        return fields - self.defaults.keys()


def unchanged(values: Iterator[Row], call: Call) -> Iterable[Row]:  # noqa: ARG001
    """Return the rows as they are."""
    return values


def each(row: Callable[[Any], Row | None]) -> Rows:
    """Return the mapping that calls ``row`` with each raw value, and leaves out those that it returns None for."""

    def rows(values: Iterator[Any], call: Call) -> Iterable[Row]:  # noqa: ARG001
        return (made for value in values if (made := row(value)) is not None)

    return rows


def flat(rows_of: Callable[[Any], Iterable[Row]]) -> Rows:
    """Return the mapping that makes several rows of each raw value."""

    def rows(values: Iterator[Any], call: Call) -> Iterable[Row]:  # noqa: ARG001
        return (row for value in values for row in rows_of(value))

    return rows


def columns(names: str, *, skip_header: bool = False, left_out: Sequence[str] = ("_",)) -> Rows:
    """Return the mapping of CSV records to columns.

    Args:
        names: their names in the order of the record, with blanks between them.
        skip_header: whether the first record is a header.
        left_out: names of fields that make no column.

    Raises:
        ValueError: when called: a record has more or fewer fields.
    """
    fields = names.split()

    def rows(values: Iterator[Sequence[str]], call: Call) -> Iterable[Row]:  # noqa: ARG001
        if skip_header:
            next(values, None)
        for record in values:
            named = zip(fields, record, strict=True)
            yield {field: text for field, text in named if field not in left_out}

    return rows


def folder(rows: Rows = unchanged, *, read: Callable[[Path], Iterator[Numbered]] = jsonl, **files: str) -> Layout:
    """Return the layout of a folder with a file for each split."""
    return Layout(files, rows, read)


def file(rows: Rows = unchanged, *, read: Callable[[Path], Iterator[Numbered]] = jsonl, **defaults: Any) -> Layout:
    """Return the layout of a single file."""
    return Layout({}, rows, read, alone=("test",), defaults=defaults)


def hub(
    rows: Rows = unchanged, *, loaded: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None, **defaults: Any
) -> Layout:
    """Return the layout of what `datasets.load_dataset` loads."""
    return Layout(
        {},
        rows,
        defaults={**dict.fromkeys(HUB_ARGUMENTS), **defaults},
        loaded=loaded or (lambda arguments: {name: arguments[name] for name in HUB_ARGUMENTS}),
    )


def renamed(row: Row, name: str, new: str) -> Row:
    """Return a row with one column called otherwise, at its place."""
    return {new if column == name else column: value for column, value in row.items()}


def letters(texts: Sequence[Any], first: str = "A") -> dict[str, Any]:
    """Return the choices by letter: ``{'A': texts[0], 'B': texts[1], ...}``."""
    return {chr(ord(first) + number): text for number, text in enumerate(texts)}
