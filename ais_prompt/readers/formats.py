"""Read a data file into a table: JSONL, JSON, CSV, TSV and Parquet; all but Parquet also compressed (``.gz``)."""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import json
import logging
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from ais_prompt.errors import DataError
from ais_prompt.readers.batches import BATCH_BYTES, StoredBatches, store_rows
from ais_prompt.readers.table import Table
from ais_prompt.utils.files import check_regular
from ais_prompt.utils.jsonl import decode, read_objects
from ais_prompt.utils.progress import Advance, tracking
from ais_prompt.utils.text import counted

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

logger = logging.getLogger(__name__)

Format: TypeAlias = Literal["jsonl", "json", "csv", "tsv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)

UTF8: Final = "utf-8-sig"
"""UTF-8, with or without a byte order mark."""

_MOST_ROWS: Final = 1000
"""Rows of a Parquet file that are unpacked together at most."""
_BUFFER_BYTES: Final = 2**17
"""Bytes that are read from a text file together."""


def split_name(path: Path) -> tuple[str, Format | None]:
    """Return a file's name without its endings, and the format that they name: ``train.jsonl.gz`` → train, jsonl."""
    stem, _, ending = path.name.removesuffix(".gz").rpartition(".")
    if stem and ending.lower() in FORMATS:
        return stem, cast(Format, ending.lower())
    return path.name, None


class CsvForm(NamedTuple):
    """How CSV and TSV are written.

    Attributes:
        delimiter: what separates the fields.
        quotechar: the quotation mark; empty where quotation marks are text.
        encoding: of the text.
    """

    delimiter: str
    quotechar: str
    encoding: str


def read_file(
    path: Path,
    format: Format | None = None,
    delimiter: str | None = None,
    encoding: str = UTF8,
    quotechar: str | None = None,
) -> Table:
    """Read all rows of a file.

    Args:
        path: the file.
        format: how to read it; None: as its ending says.
        delimiter: what separates the fields of CSV and TSV; None: a comma or a tab.
        encoding: of CSV and TSV.
        quotechar: what encloses fields of CSV and TSV that hold the delimiter or line breaks, "" for nothing; None:
            ``"`` in CSV, and nothing in TSV, where quotation marks are text.

    Raises:
        DataError: it does not exist, cannot be read, has no rows, or its content is not of its format; it names the
            line where possible.
    """
    kind = format or split_name(path)[1]
    if kind is None:
        is_sheet = path.suffix.lower() in (".xlsx", ".xls", ".ods")
        fix = "save the sheet as CSV UTF-8" if is_sheet else f"set format to one of {', '.join(FORMATS)}"
        raise DataError("the file's ending names no format", where=str(path), fix=fix)
    with reading(path):
        status = check_regular(path)
        own = CsvForm("\t", "", encoding) if kind == "tsv" else CsvForm(",", '"', encoding)
        csv_form = own._replace(
            delimiter=own.delimiter if delimiter is None else delimiter,
            quotechar=own.quotechar if quotechar is None else quotechar,
        )
        return _read(path, kind, csv_form, status.st_mtime_ns, status.st_size)


def guessed_csv_form(path: Path) -> dict[str, str]:
    """Return the ``delimiter`` and ``encoding`` of a CSV file that differ from the usual, such as those of Excel.

    Excel writes ``;`` where a comma is in numbers, tabs and UTF-16 as "Unicode text", and GB 18030 in China. Only the
    beginning of the file is read; a file that does not exist or is no CSV has the usual form.
    """
    if split_name(path)[1] != "csv" or not path.is_file():
        return {}
    with reading(path), _open(path) as stream:
        head = stream.read(_BUFFER_BYTES)
    encoding = "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else UTF8
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        encoding = "gb18030"
        text = head.decode(encoding, "replace")
    header = text.partition("\n")[0]
    delimiter = next((sign for sign in ",;\t" if sign in header), ",")
    return {
        **({} if delimiter == "," else {"delimiter": delimiter}),
        **({} if encoding == UTF8 else {"encoding": encoding}),
    }


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while ``path`` is opened, unpacked and decoded into a DataError."""
    try:
        yield
    except FileNotFoundError:
        raise missing_file(path) from None
    except (OSError, EOFError, zlib.error) as error:
        cause = (isinstance(error, OSError) and error.strerror) or error
        fix = "check that it is a whole file and that you may read it"
        raise DataError(f"cannot read the file: {cause}", where=str(path), fix=fix) from error
    except UnicodeDecodeError as error:
        fix = "save it as UTF-8" + (", or set encoding" if split_name(path)[1] in ("csv", "tsv") else "")
        name = "UTF-8" if error.encoding in ("utf-8", UTF8) else error.encoding
        raise DataError(f"the file is not {name} text: {error.reason}", where=str(path), fix=fix) from None


def missing_file(path: Path) -> DataError:
    """Return the error for a path that does not exist; it offers the nearest name in its folder."""
    if path.is_symlink():
        return DataError("the link leads to no file", where=str(path), fix=f"point it to a file: ln -sf FILE {path}")
    fix = "check the path: a relative one starts at the working directory, or beside the config"
    if path.parent.is_dir():
        near = difflib.get_close_matches(path.name, [other.name for other in path.parent.iterdir()], n=1)
        fix = f"did you mean {near[0]!r}?" if near else fix
    return DataError("there is no such file or folder", where=str(path), fix=fix)


@lru_cache(maxsize=2)
def _read(path: Path, kind: Format, csv_form: CsvForm, _changed: int, _size: int) -> Table:
    """Read a file. Cached, because `check` and then `run` read the same file."""
    stored = _read_csv(path, csv_form, kind) if kind in ("csv", "tsv") else _READ[kind](path)
    table = Table(stored, [str(path)])
    if not len(table):
        raise DataError("the file has no rows", where=str(path), fix="fill it, or take it out of the config")
    return table


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked, and show how much of it was read."""
    with path.open("rb", buffering=0) as raw:
        size = os.fstat(raw.fileno()).st_size
        if size <= _BUFFER_BYTES:  # one reading takes all of it: there is no progress to show
            yield _unpacked(path, io.BufferedReader(raw, max(size, io.DEFAULT_BUFFER_SIZE)))
            return
        with tracking(f"reading {path.name}", size, "B") as advance:
            yield _unpacked(path, io.BufferedReader(_CountedReads(raw, advance), _BUFFER_BYTES))


def _unpacked(path: Path, stream: io.BufferedReader) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if path.suffix == ".gz" else stream


class _CountedReads(io.RawIOBase):
    """A file that counts the bytes that are read from it."""

    def __init__(self, raw: io.RawIOBase, advance: Advance) -> None:
        self._raw = raw
        self._advance = advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        count = self._raw.readinto(buffer)
        self._advance(count or 0)
        return count


def _read_jsonl(path: Path) -> StoredBatches:
    with _open(path) as lines:
        return store_rows(read_objects(lines, str(path)), lambda line: f"{path}:{line}")


def _read_json(path: Path) -> StoredBatches:
    with _open(path) as stream:
        text = stream.read().decode(UTF8)
    if not text.strip():
        raise DataError("the file is empty", where=str(path), fix="fill it, or take it out of the config")
    try:
        value = decode(text)
    except json.JSONDecodeError as error:
        fix = "repair it; if the file has one object a line, name it .jsonl or set format='jsonl'"
        raise DataError(f"the file is not JSON: {error.msg}", where=f"{path}:{error.lineno}", fix=fix) from None
    except ValueError as error:
        raise DataError(f"the file cannot be used: {error}", where=str(path), fix="repair it") from None
    return store_rows(enumerate(_json_rows(value, path)), lambda row: f"{path}, row {row}")


def _json_rows(value: Any, path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON text: a list of objects, the same under the key ``data``, or an object of columns."""
    if isinstance(value, dict) and _is_rows(value.get("data")):
        value = value["data"]
    if _is_rows(value):
        return cast(list[dict[str, Any]], value)
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        return _rows_of_columns(value, path)
    raise DataError(
        f"the JSON text is no table but {_kind(value)}",
        where=str(path),
        fix='write a list of objects, {"data": [objects]}, or {"column": [values]}',
    )


def _rows_of_columns(columns: dict[str, list[Any]], path: Path) -> list[dict[str, Any]]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the columns differ in length: {lengths}", where=str(path), fix="make them equally long")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _kind(value: Any) -> str:
    if isinstance(value, list):
        odd = next(row for row, item in enumerate(value) if not isinstance(item, dict))
        return f"a list whose row {odd} is {type(value[odd]).__name__}, not an object"
    return "an object" if isinstance(value, dict) else type(value).__name__


def _read_csv(path: Path, form: CsvForm, kind: Format) -> StoredBatches:
    with _open(path) as stream, io.TextIOWrapper(stream, form.encoding, newline="") as text:
        return store_rows(_csv_rows(text, path, form, kind), lambda line: f"{path}:{line}")


def _csv_rows(text: io.TextIOWrapper, path: Path, form: CsvForm, kind: Format) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and row of every record; values stay text: 007 is not 7. Nameless columns are left out."""
    csv.field_size_limit(sys.maxsize)  # the module's own limit of 131,072 characters is too low for long contexts
    # "strict": a quotation mark that is never closed would silently swallow the rest of the file.
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if form.quotechar else csv.QUOTE_NONE
    records = csv.reader(text, delimiter=form.delimiter, quotechar=form.quotechar or None, quoting=quoting, strict=True)
    line = 1
    try:
        header = next(filter(None, records), [])
        named = [name for name in header if name]
        if len(set(named)) < len(named):
            raise DataError(f"two columns have one name: {header}", where=f"{path}:1", fix="rename one of them")
        line = records.line_num + 1
        for record in records:
            if record:
                _check_width(record, header, f"{path}:{line}")
                if kind == "tsv" and records.line_num > line:
                    merged = (
                        "%s: quotation marks merge the lines up to %d into one row; with quotechar='' they are text"
                    )
                    logger.warning(merged, f"{path}:{line}", records.line_num)
                yield line, {name: value for name, value in zip(header, record, strict=True) if name}
            line = records.line_num + 1
    except csv.Error as error:
        raise DataError(f"the record is broken: {error}", where=f"{path}:{line}", fix="check its quotes") from None


def _check_width(record: list[str], header: list[str], where: str) -> None:
    if len(record) != len(header):
        raise DataError(
            f"the record has {counted(len(record), 'field')}, the header {counted(len(header), 'column')}",
            where=where,
            fix="put fields that contain the separator, quotes or line breaks in quotes",
        )


def _read_parquet(path: Path) -> StoredBatches:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stored = StoredBatches()
    try:
        # Not as a dataset, which would make columns of folders that are named like key=value; and not all of a row
        # group at once.
        with (
            pq.ParquetFile(path, buffer_size=BATCH_BYTES, pre_buffer=False) as file,
            tracking(f"reading {path.name}", file.metadata.num_rows, "rows") as advance,
        ):
            # As many rows make a batch as fill it by their mean size in the file.
            groups = (file.metadata.row_group(number) for number in range(file.num_row_groups))
            size = sum(group.total_byte_size for group in groups)
            rows: int = BATCH_BYTES * file.metadata.num_rows // max(1, size)
            for batch in file.iter_batches(min(_MOST_ROWS, max(1, rows))):
                stored.append(batch)
                advance(batch.num_rows)
    except pa.ArrowException as error:
        cause = str(error).partition("\n")[0]
        fix = "check how it was made, or copy it again"
        raise DataError(f"the file is not Parquet: {cause}", where=str(path), fix=fix) from None
    return stored


_READ: dict[Format, Callable[[Path], StoredBatches]] = {
    "jsonl": _read_jsonl,
    "json": _read_json,
    "parquet": _read_parquet,
}
