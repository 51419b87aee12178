"""Read a data file into a table: JSONL, JSON, CSV and TSV, also compressed (``.gz``), Parquet, and sheets."""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast, get_args

from ais_prompt.data.batches import BATCH_BYTES, StoredBatches, store_rows
from ais_prompt.data.csv_rows import CsvForm, csv_rows, guess_delimiter
from ais_prompt.data.file_kinds import HEAD_BYTES, ROW_KEYS, UTF8, Format, format_of, guess_encoding, is_rows
from ais_prompt.data.given_rows import SPLIT_NAMES
from ais_prompt.data.table import Table
from ais_prompt.errors import DataError
from ais_prompt.terminal import Advance, tracking
from ais_prompt.utils import check_regular, counted, decode, listed, nearest, read_objects, split_sheet

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

logger = logging.getLogger(__name__)

FORMATS: tuple[Format, ...] = get_args(Format)
_ENDINGS: Final[dict[str, Format]] = {**{name: name for name in FORMATS}, "ndjson": "jsonl", "xlsm": "xlsx"}

_USUAL_FORMS: Final[dict[Format, CsvForm]] = {"csv": CsvForm(",", '"', UTF8), "tsv": CsvForm("\t", "", UTF8)}
_FILL: Final = "fill it, or take it out of the config"
_MOST_ROWS: Final = 1000
"""Rows of a Parquet file that are unpacked together at most."""
_BUFFER_BYTES: Final = 2**17
"""Bytes that are read from a text file together."""


def split_name(path: Path) -> tuple[str, Format | None]:
    """Return a file's name without its endings, and the format that they name: ``train.jsonl.gz`` → train, jsonl."""
    name = split_sheet(path)[0].name
    stem, _, ending = name.removesuffix(".gz").rpartition(".")
    found = _ENDINGS.get(ending.lower())
    return (stem, found) if stem and found else (name, None)


def read_file(
    path: Path,
    format: Format | None = None,
    delimiter: str | None = None,
    encoding: str = UTF8,
    quotechar: str | None = None,
) -> Table:
    """Read all rows of a file.

    Args:
        path: the file; a sheet of a workbook is ``FILE.xlsx#SHEET``, by default the first one.
        format: how to read it; None: as its ending and its content say.
        delimiter: what separates the fields of CSV and TSV; None: a comma or a tab, and if the content alone says that
            the file is CSV, what it says.
        encoding: of CSV and TSV.
        quotechar: what encloses fields of CSV and TSV that hold the delimiter or line breaks, "" for nothing; None:
            ``"`` in CSV, and nothing in TSV, where quotation marks are text.

    Raises:
        DataError: it does not exist, cannot be read, has no rows, or its content is not of its format; it names the
            line where possible.
        MissingExtra: it is a workbook, and the package that reads it is not installed.
    """
    file, sheet = split_sheet(path)
    with reading(file):
        status = _status(file)
        kind = format or _found_format(file)
        own = _USUAL_FORMS.get(kind, _USUAL_FORMS["csv"])._replace(encoding=encoding)
        if kind == "csv" and format is None and split_name(file)[1] is None:
            found = _found_form(file, status.st_mtime_ns, status.st_size)
            own = own._replace(delimiter=found.delimiter, encoding=found.encoding if encoding == UTF8 else encoding)
        csv_form = own._replace(
            delimiter=own.delimiter if delimiter is None else delimiter,
            quotechar=own.quotechar if quotechar is None else quotechar,
        )
        return _read(path, kind, csv_form, sheet, status.st_mtime_ns, status.st_size)


def row_place(origins: Sequence[str], row: int) -> str:
    """Return where a row is, as an editor names it: ``questions.csv:31``; ``row 29`` if the file has no lines.

    Args:
        origins: of the table.
        row: its number, from 0.
    """
    path = Path(origins[0]) if len(origins) == 1 else Path()
    with suppress(DataError, ValueError), reading(path), _opened(path) as stream:
        lines: Iterator[tuple[int, Any]] = iter(())
        if (kind := split_name(path)[1]) in ("csv", "tsv"):
            form = _USUAL_FORMS[kind]._replace(**guessed_csv_form(path))
            lines = csv_rows(io.TextIOWrapper(stream, form.encoding, newline=""), str(path), form, is_tsv=kind == "tsv")
        elif kind == "jsonl":
            lines = read_objects(stream, str(path))
        for line, _ in islice(lines, row, None):
            here = Path.cwd()
            return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{line}"
    return f"row {row}"


def guessed_csv_form(path: Path) -> dict[str, str]:
    """Return the ``delimiter`` and ``encoding`` of CSV and TSV that differ from the usual, such as those of Excel.

    Excel writes ``;`` where a comma is in numbers, tabs and UTF-16 as "Unicode text", and GB 18030 in China. The files
    of a folder's splits must be alike. A file that does not exist or is no CSV has the usual form.

    Raises:
        DataError: it cannot be read, or the files of a folder differ.
    """
    with reading(path):
        files = [path]
        if path.is_dir():
            named = ((file, *split_name(file)) for file in sorted(path.iterdir()))
            files = [file for file, name, kind in named if name in SPLIT_NAMES and kind]
        forms: dict[str, dict[str, str]] = {}
        for file in filter(Path.is_file, files):
            status = _status(file)
            if (kind := _found_format(file)) in ("csv", "tsv"):
                form = _found_form(file, status.st_mtime_ns, status.st_size)
                usual = form._replace(delimiter=form.delimiter if kind == "tsv" else ",", encoding=UTF8)._asdict()
                forms[file.name] = {key: value for key, value in form._asdict().items() if value != usual[key]}
    first = next(iter(forms.values()), {})
    if any(form != first for form in forms.values()):
        each = listed(f"{name} {form or 'as usual'}" for name, form in forms.items())
        fix = "save all as CSV UTF-8 with the same separator"
        raise DataError(f"the files of the folder are written differently: {each}", where=str(path), fix=fix)
    return first


def _status(file: Path) -> os.stat_result:
    """Return the status of a regular file that is not empty."""
    status = check_regular(file)
    if not status.st_size:
        raise DataError("the file is empty", where=str(file), fix=_FILL)
    return status


def _found_format(file: Path) -> Format:
    """Return the format that the name and the content of a file say."""
    with _opened(file) as stream:
        found = format_of(file, stream, split_name(file)[1])
    if found is None:
        what = "neither the ending nor the content of the file tells its format"
        fix = f"rename it, such as {file.name}.jsonl, or set format to one of {', '.join(FORMATS)}"
        raise DataError(what, where=str(file), fix=fix)
    return found


@lru_cache(maxsize=8)
def _found_form(file: Path, _changed: int, _size: int) -> CsvForm:
    """Guess how a CSV file is written, and say what is no certainty. Cached, so that it is said once."""
    head, telling = _samples(file)
    encoding = guess_encoding(telling)
    if encoding not in (None, UTF8):
        advice = "if that is wrong, save it as CSV UTF-8, or set encoding in a config (--save-config)"
        logger.warning("%s: the text is read as %s; %s", file, encoding, advice)
    text = head.decode(encoding or UTF8, "replace")
    return CsvForm(guess_delimiter(text, is_whole=len(head) < HEAD_BYTES) or ",", '"', encoding or UTF8)


def _samples(file: Path) -> tuple[bytes, bytes]:
    """Return the beginning of a text file, and the first part that has characters besides those of ASCII."""
    with _opened(file) as stream:
        head = telling = stream.read(HEAD_BYTES)
        while telling.isascii() and b"\0" not in telling and (more := stream.read(HEAD_BYTES)):
            telling = more.partition(b"\n")[2]
    return head, telling


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
        fix = "save it as UTF-8"
        if split_name(path)[1] in ("csv", "tsv"):
            guess = guess_encoding(_samples(path)[1])
            fix += f", or set encoding={guess!r}" if guess not in (None, UTF8) else ", or set encoding"
        name = "UTF-8" if error.encoding in ("utf-8", UTF8) else error.encoding
        raise DataError(f"the file is not {name} text: {error.reason}", where=str(path), fix=fix) from None


def missing_file(path: Path) -> DataError:
    """Return the error for a path that does not exist; it offers the nearest name in its folder."""
    if path.is_symlink():
        return DataError("the link leads to no file", where=str(path), fix=f"point it to a file: ln -sf FILE {path}")
    fix = "check the path: a relative one starts at the working directory, or beside the config"
    if path.parent.is_dir():
        near = nearest(path.name, (other.name for other in path.parent.iterdir()))
        fix = f"did you mean {near!r}?" if near else fix
    return DataError("there is no such file or folder", where=str(path), fix=fix)


@lru_cache(maxsize=2)
def _read(path: Path, kind: Format, csv_form: CsvForm, sheet: str | None, _changed: int, _size: int) -> Table:
    """Read a file. Cached, because `check` and then `run` read the same file."""
    file = split_sheet(path)[0]
    if kind in ("xlsx", "ods"):
        from ais_prompt.data.sheets import read_sheet

        stored = read_sheet(file, sheet, kind)
    elif kind in ("json", "parquet"):
        stored = _read_json(file) if kind == "json" else _read_parquet(file)
    else:
        with _open(file) as stream:
            if kind == "jsonl":
                rows = read_objects(stream, str(file))
            else:
                text = io.TextIOWrapper(stream, csv_form.encoding, newline="")
                rows = csv_rows(text, str(file), csv_form, is_tsv=kind == "tsv")
            stored = store_rows(rows, lambda line: f"{file}:{line}")
    table = Table(stored, [str(path)])
    if not len(table):
        raise DataError("the file has no rows", where=str(path), fix=_FILL)
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


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for a look at its content, unpacked."""
    with path.open("rb") as raw:
        yield _unpacked(path, raw)


def _unpacked(path: Path, stream: io.BufferedReader) -> IO[bytes]:
    is_packed = path.suffix == ".gz" or stream.peek(2).startswith(b"\x1f\x8b")
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if is_packed else stream


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


def _read_json(path: Path) -> StoredBatches:
    with _open(path) as stream:
        text = stream.read().decode(UTF8)
    if not text.strip():
        raise DataError("the file is empty", where=str(path), fix=_FILL)
    try:
        value = decode(text)
    except json.JSONDecodeError as error:
        fix = "repair it; if the file has one object a line, name it .jsonl or set format='jsonl'"
        raise DataError(f"the file is not JSON: {error.msg}", where=f"{path}:{error.lineno}", fix=fix) from None
    except ValueError as error:
        raise DataError(f"the file cannot be used: {error}", where=str(path), fix="repair it") from None
    return store_rows(enumerate(_json_rows(value, path)), lambda row: f"{path}, row {row}")


def _json_rows(value: Any, path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON text, in any of the forms in which programs write tables."""
    if isinstance(value, dict):
        value = _rows_in(value, path)
    if is_rows(value):
        return cast(list[dict[str, Any]], value)
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        lengths = {name: len(column) for name, column in value.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"the columns differ in length: {lengths}", where=str(path), fix="make them equally long")
        return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    kind = "an object" if isinstance(value, dict) else type(value).__name__
    if isinstance(value, list):
        odd = next(row for row, item in enumerate(value) if not isinstance(item, dict))
        kind = f"a list whose row {odd} is {type(value[odd]).__name__}, not an object"
    raise DataError(
        f"the JSON text is no table but {kind}",
        where=str(path),
        fix='write a list of objects, {"data": [objects]}, {"id": object, ...}, or {"column": [values]}',
    )


def _rows_in(value: dict[str, Any], path: Path) -> Any:
    """Return the rows that an object holds: below a key, each below its id, or as pandas writes them; else itself."""
    if found := next((value[key] for key in ROW_KEYS if is_rows(value.get(key))), None):
        return _unnested(found)
    names, lines = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(lines, list) and all(isinstance(line, list) for line in lines):
        return _split_rows(names, lines, path)
    lists = [one for one in value.values() if isinstance(one, list)]
    if len(lists) == 1 and lists[0] and is_rows(lists[0]):
        return _unnested(lists[0])
    objects = [one for one in value.values() if isinstance(one, dict)]
    if len(objects) < max(2, len(value)) or not (shared := set.intersection(*map(set, objects))):
        return value
    if all(one.keys() == shared and all(map(str.isdecimal, one)) for one in objects):
        return {name: [column[row] for row in objects[0]] for name, column in value.items()}  # pandas, by default
    return _unnested([row if "id" in row else {"id": key, **row} for key, row in value.items()])


def _split_rows(names: list[str], lines: list[list[Any]], path: Path) -> list[dict[str, Any]]:
    """Return the rows of ``DataFrame.to_json(orient="split")``."""
    for row, line in enumerate(lines):
        if len(line) != len(names):
            what = f"the row has {counted(len(line), 'value')}, and there are {counted(len(names), 'column')}"
            raise DataError(what, where=f"{path}, row {row}", fix="write a value for each column")
    return [dict(zip(names, line, strict=True)) for line in lines]


_NESTED: Final = ("paragraphs", "qas", "qa_pairs")
"""Columns of lists of objects, each of which is a row with what is beside the list (SQuAD, DROP).

Beside a question such a list has passages (MuSiQue).
"""


def _unnested(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for name in _NESTED:
        if rows and all(is_rows(row.get(name)) and "question" not in row for row in rows):
            outer = [({key: one for key, one in row.items() if key != name}, row[name]) for row in rows]
            rows = [{**beside, **inner} for beside, each in outer for inner in each]
    return rows


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


def label_names(path: Path) -> dict[str, tuple[str, ...]]:
    """Return column → names of its numbers, from 0, as `datasets` writes them into Parquet (``ClassLabel``).

    Args:
        path: a file, or a folder, of which the first Parquet file counts. Others have no such names.
    """
    file = next(iter(sorted(path.glob("*.parquet"))), path) if path.is_dir() else path
    if file.suffix != ".parquet":
        return {}
    import pyarrow.parquet as pq

    written = (pq.read_schema(file).metadata or {}).get(b"huggingface", b"{}")
    with suppress(ValueError):
        features = decode(written.decode()).get("info", {}).get("features", {})
        return {
            name: tuple(feature["names"])
            for name, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        }
    return {}
