"""Read the records of CSV and TSV, and guess what separates their fields."""

from __future__ import annotations

import csv
import io
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from ais_prompt.errors import DataError
from ais_prompt.utils import counted, listed

logger = logging.getLogger(__name__)

_DELIMITERS: Final = ",;\t|"
"""What separates fields, the likeliest first."""
_SAMPLE: Final = 50
"""Records from which the delimiter is guessed."""
_SEPARATOR: Final = re.compile(r'\A"?sep=(?P<sign>.)"?(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
"""The first line that Excel writes and reads: no header, but the delimiter."""


class CsvForm(NamedTuple):
    """How CSV and TSV are written.

    Attributes:
        delimiter: what separates the fields; the first line may name another (``sep=;``).
        quotechar: the quotation mark; empty where quotation marks are text.
        encoding: of the text.
    """

    delimiter: str
    quotechar: str
    encoding: str


def guess_delimiter(text: str, *, is_whole: bool) -> str | None:
    """Return what separates the fields: it is in the header, outside of quotes, and the records agree with it best.

    Args:
        text: the beginning of the file.
        is_whole: whether it is all of the file; else its last record may be cut.

    Returns:
        The delimiter, or None if there is only one column.
    """
    if (named := _SEPARATOR.match(text)) is not None:
        return named["sign"]
    best, most = None, 0.0
    for sign in _DELIMITERS:
        widths = _widths(text, sign, is_whole)
        agreeing = widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0
        if agreeing > most:
            best, most = sign, agreeing
    return best


def is_table(text: str, delimiter: str, *, is_whole: bool) -> bool:
    """Return whether the records of a text, as in `guess_delimiter`, are two or more and of one width."""
    widths = _widths(text, delimiter, is_whole)
    return len(widths) > 1 and len(set(widths)) == 1


def _widths(text: str, delimiter: str, is_whole: bool) -> list[int]:
    """Return the number of fields of each record."""
    widths: list[int] = []
    lines = io.StringIO(_SEPARATOR.sub("", text, count=1), newline="")
    try:
        for record in islice(csv.reader(lines, delimiter=delimiter, strict=True), _SAMPLE):
            if any(record):
                widths.append(len(record))
    except csv.Error:
        return widths  # of a broken record, or one that is cut
    return widths if is_whole or len(widths) in (1, _SAMPLE) else widths[:-1]


def csv_rows(text: Iterable[str], name: str, form: CsvForm, *, is_tsv: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and row of every record; values stay text: 007 is not 7.

    Columns without a name and empty rows are left out.

    Args:
        text: the lines of the file, with their ends.
        name: of the file, for errors.
        form: how it is written.
        is_tsv: whether the file is TSV, whose records seldom have line breaks.

    Raises:
        DataError: there is no record below the header, one is broken or of another width; it names the line.
    """
    csv.field_size_limit(sys.maxsize)  # the module's own limit of 131,072 characters is too low for long contexts
    lines = _without_nul(text, name)
    first = next(lines, "")
    named = _SEPARATOR.fullmatch(first)
    lines = lines if named else chain([first], lines)
    skipped = 1 if named else 0
    # "strict": a quotation mark that is never closed would silently swallow the rest of the file.
    records = csv.reader(
        lines,
        delimiter=named["sign"] if named else form.delimiter,
        quotechar=form.quotechar or None,
        quoting=csv.QUOTE_MINIMAL if form.quotechar else csv.QUOTE_NONE,
        strict=True,
    )
    line = 1
    header: list[str] = []
    header_place = name
    has_rows = False
    try:
        for record in records:
            last = records.line_num + skipped
            if any(record) and not header:
                header, header_place = record, f"{name}:{last}"
                check_names(header, header_place)
            elif any(record):  # not an empty row of a sheet: ;;;
                _check_record(record, header, f"{name}:{line}")
                if is_tsv and last > line:
                    merged = (
                        "%s: quotation marks merge the lines up to %d into one row; with quotechar='' they are text"
                    )
                    logger.warning(merged, f"{name}:{line}", last)
                has_rows = True
                yield line, {column: value for column, value in zip(header, record, strict=True) if column}
            line = last + 1
    except csv.Error as error:
        fix = "check its quotes, or set quotechar='' if they are text"
        raise DataError(f"the record is broken: {error}", where=f"{name}:{line}", fix=fix) from None
    if header and not has_rows:
        raise header_alone(header, header_place)


def _without_nul(text: Iterable[str], name: str) -> Iterator[str]:
    for number, line in enumerate(text, 1):
        if "\0" in line:
            fix = "save it as CSV UTF-8, or set encoding='utf-16' if it is UTF-16"
            raise DataError("the line holds NUL, which is no text", where=f"{name}:{number}", fix=fix)
        yield line


def _check_record(record: list[str], header: list[str], where: str) -> None:
    if len(record) != len(header):
        what = f"the record has {counted(len(record), 'field')}, the header {counted(len(header), 'column')}"
        fix = "put fields that contain the separator, quotes or line breaks in quotes"
        if len(record) < len(header):
            fix = "write a field for each column, if only an empty one; put fields with line breaks in quotes"
        raise DataError(what, where=where, fix=fix)
    if (
        sum(map(bool, header)) == 1
        and sum(bool(cell) and not name for cell, name in zip(record, header, strict=True)) > 1
    ):
        what = f"the first line names one of {len(header)} columns: {listed(filter(None, header))}"
        raise DataError(what, where=where, fix="delete the lines above the names of the columns, such as a title")
    for sign in _DELIMITERS if len(header) == 1 else "":
        if 0 < header[0].count(sign) == record[0].count(sign):
            what = f"the only column is {header[0]!r}, whose parts {sign!r} seems to separate"
            raise DataError(what, where=where, fix=f"set delimiter={sign!r}")


def check_names(header: Sequence[str], where: str) -> None:
    """Refuse two columns of one name; columns without a name are left out.

    Raises:
        DataError: there are two.
    """
    named = [name for name in header if name]
    if len(set(named)) < len(named):
        raise DataError(f"two columns have one name: {list(header)}", where=where, fix="rename one of them")


def header_alone(header: Sequence[str], where: str) -> DataError:
    """Return the error for a table without rows."""
    what = f"there is a header and no rows: {listed(header)}"
    return DataError(what, where=where, fix="write rows below the header")
