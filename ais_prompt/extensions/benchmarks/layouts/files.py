"""Read the raw rows of a file, one at a time, before they are mapped to columns."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ais_prompt.errors import DataError
from ais_prompt.readers.formats import reading
from ais_prompt.utils.files import check_regular
from ais_prompt.utils.jsonl import read_objects
from ais_prompt.utils.text import counted

Numbered: TypeAlias = tuple[int, Any]
"""The number of a line or item, and its raw value."""


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
