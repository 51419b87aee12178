"""A table is the same in each format: texts come back as they were written, whatever they are."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import guessed_csv_form, read_file
from tests.support.sheets import write_ods, write_xlsx

Rows: TypeAlias = "list[dict[str, str]]"


def _write_lines(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _write_csv(path: Path, rows: Rows, delimiter: str = ",", encoding: str = "utf-8", end: str = "\r\n") -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
        writer.writerows([list(rows[0]), *(list(row.values()) for row in rows)])


def _write_tsv(path: Path, rows: Rows) -> None:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8", newline="")


def _cells(rows: Rows) -> dict[str, Sequence[Sequence[str]]]:
    return {"Sheet": [list(rows[0]), *(list(row.values()) for row in rows)]}


FORMATS: Final[dict[str, Callable[[Path, Rows], object]]] = {
    "jsonl": _write_lines,
    "ndjson": _write_lines,
    "json": lambda path, rows: path.write_text(json.dumps(rows, indent=2)),
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": lambda path, rows: pq.write_table(pa.Table.from_pylist(rows), path),
    "xlsx": lambda path, rows: write_xlsx(path, _cells(rows)),
    "ods": lambda path, rows: write_ods(path, _cells(rows)),
}
# A sheet has no control characters; "#" marks errors in the helpers.
TEXTS: Final = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"], exclude_characters="#\ufeff"), max_size=8)
NAMES: Final = st.lists(TEXTS.filter(bool), min_size=2, max_size=4, unique=True)


def tables(cells: st.SearchStrategy[str], names: st.SearchStrategy[list[str]]) -> st.SearchStrategy[Rows]:
    """Draw tables whose first column is never empty: an empty row is none in a sheet."""
    return names.flatmap(
        lambda columns: st.lists(
            st.tuples(cells.filter(bool), *[cells] * (len(columns) - 1)).map(
                lambda row: dict(zip(columns, row, strict=True))
            ),
            min_size=1,
            max_size=4,
        )
    )


@given(tables(TEXTS | st.sampled_from(["007", "1.0", "TRUE", "2024-05-01", "1e5", "=1+1", "None"]), NAMES))
def test_texts_are_the_same_in_each_format(rows: Rows) -> None:
    with TemporaryDirectory() as folder:
        for ending, write in FORMATS.items():
            path = Path(folder) / f"a.{ending}"
            write(path, rows)
            assert list(read_file(path)) == rows, ending


WORDS: Final = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


@given(
    tables(WORDS | st.just('a "quoted" word'), st.lists(WORDS, min_size=2, max_size=4, unique=True)),
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["a.csv", "a", "a.csv.txt"]),
)
def test_the_form_of_csv_is_found(rows: Rows, delimiter: str, encoding: str, end: str, name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        _write_csv(path, rows, delimiter, encoding, end)
        form = guessed_csv_form(path)
        assert list(read_file(path, **form)) == rows  # type: ignore[arg-type]
        assert form.get("delimiter", ",") == delimiter
