"""Read a sheet of a workbook (``.xlsx``, ``.ods``) as it is shown: texts, and booleans in a column of booleans.

The XML files are unpacked in bounded memory, and looked through for what the library that reads the cells does not
tell: `python-calamine` returns an error value as an empty cell, does not know which rows are hidden, and reserves
memory for every cell up to the last one, wherever that is.

Sources: ECMA-376, part 1, section 18.3 (``.xlsx``); OpenDocument 1.3, part 3, section 9 (``.ods``).
"""

from __future__ import annotations

import io
import logging
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from xml.parsers import expat

from ais_prompt.data.batches import StoredBatches, store_rows
from ais_prompt.data.column_names import ANSWERS, QUESTIONS, plain_name
from ais_prompt.data.csv_rows import check_names, header_alone
from ais_prompt.data.file_kinds import OLE_MAGIC, WorkbookKind, locked_workbook, old_workbook
from ais_prompt.errors import DataError
from ais_prompt.utils import counted, listed, require

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

logger = logging.getLogger(__name__)

_TITLES: Final = 5
"""Rows in which the header is looked for, below lines such as a title, an author and a date."""
_KNOWN: Final = frozenset((*QUESTIONS, *ANSWERS))
Cell: TypeAlias = int | float | str | bool | time | date | timedelta
"""What the library returns; an empty cell is an empty text."""


def read_sheet(path: Path, sheet: str | None, kind: WorkbookKind) -> StoredBatches:
    """Read the rows of a sheet below its header, the first row that is shown and not empty, or is below a title.

    A number is written with at most 15 digits and without its format: 3, 0.5; but 50% as a percentage. A date is
    2024-05-01 or 2024-05-01 12:30:00. The value of cells that are merged downwards counts for each of their rows.
    Hidden and empty rows, and columns without a name, are left out.

    Args:
        path: the file.
        sheet: the name of the sheet; None: the first that is shown.
        kind: of the workbook.

    Raises:
        DataError: the workbook cannot be read, is too large, has no such sheet, or no table; or a cell has no value.
        MissingExtra: python-calamine is not installed.
    """
    members = unpack_workbook(path, kind)
    facts = scan_sheet(path, members, kind, sheet)
    calamine = require("python_calamine", extra="sheets", why=f"reading .{kind}")
    try:
        with calamine.load_workbook(packed(members)) as workbook:
            # Early versions of the library break off at an empty sheet.
            rows = _shown_rows(workbook.get_sheet_by_name(facts.name), facts) if facts.last_row >= 0 else []
            return store_rows(_table(rows, facts), lambda row: f"{facts.where}:{row}")
    except calamine.CalamineError as error:
        if facts.errors:  # the library does not know the newest kinds of errors
            raise _no_value(facts, next(iter(facts.errors))) from None
        raise damaged_workbook(path, kind, str(error)) from None


def _shown_rows(grid: CalamineSheet, facts: SheetFacts) -> list[tuple[int, Sequence[Cell]]]:
    """Return number, from 0, and cells of the rows that are shown and not empty."""
    below: dict[int, tuple[int, Cell]] = {}  # column → last row and value of a range that is merged downwards
    rows: list[tuple[int, Sequence[Cell]]] = []
    for number, cells in enumerate(grid.iter_rows()):
        for column in facts.percents.get(number, ()):
            if column < len(cells) and isinstance(cell := cells[column], int | float):
                cells[column] = f"{_text(100 * cell)}%"
        for column, (last, value) in below.items():
            if number <= last:
                cells[column] = value
        for column, last_column, last in facts.merged.get(number, ()):
            if column == last_column < len(cells):
                below[column] = last, cells[column]
        if number not in facts.hidden and any(cell != "" for cell in cells):
            rows.append((number, cells))
    return rows


def _table(rows: Sequence[tuple[int, Sequence[Cell]]], facts: SheetFacts) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number, from 1, and values of each row below the header."""
    while rows and _is_title(rows, facts):
        rows = rows[1:]
    if not rows:
        raise DataError("the sheet is empty", where=facts.where, fix="fill it, or name another as FILE#SHEET")
    columns = _header(*rows[0], facts)
    for column, (number, _) in facts.errors.items():
        if column in columns or number == rows[0][0]:
            raise _no_value(facts, column)
    filled = [(number, cells) for number, cells in rows[1:] if any(cells[column] != "" for column in columns)]
    if not filled:
        raise header_alone(list(columns.values()), f"{facts.where}:{rows[0][0] + 1}")
    if hidden := sum(row <= facts.last_row for row in facts.hidden):
        logger.warning("%s: %s left out", facts.where, counted(hidden, "hidden row"))
    booleans = {column for column in columns if all(isinstance(cells[column], bool) for _, cells in filled)}
    for number, cells in filled:
        row = {name: cells[column] if column in booleans else _text(cells[column]) for column, name in columns.items()}
        yield number + 1, row


def _no_value(facts: SheetFacts, column: int) -> DataError:
    number, why = facts.errors[column]
    fix = "correct it and save it in a spreadsheet program, or empty the cell"
    return DataError(f"the cell {cell_name(number, column)} {why}", where=f"{facts.where}:{number + 1}", fix=fix)


def _is_title(rows: Sequence[tuple[int, Sequence[Cell]]], facts: SheetFacts) -> bool:
    """Return whether the first row is above the table: one text, merged over columns, or close above known names."""
    number, cells = rows[0]
    filled = [column for column, cell in enumerate(cells) if cell != ""]
    if len(filled) != 1:
        return False
    names = [{plain_name(cell) for cell in below if isinstance(cell, str)} for _, below in rows[:_TITLES]]
    return any(filled == [first] and last > first for first, last, _ in facts.merged.get(number, ())) or (
        not names[0] & _KNOWN and any(each & _KNOWN and len(each - {""}) > 1 for each in names)
    )


def _header(number: int, cells: Sequence[Cell], facts: SheetFacts) -> Mapping[int, str]:
    """Return column → name."""
    columns = {column: name for column, cell in enumerate(cells) if (name := _text(cell))}
    where = f"{facts.where}:{number + 1}"
    for first, last, last_row in facts.merged.get(number, ()):
        what = f"the header merges the cells {cell_name(number, first)}:{cell_name(last_row, last)}"
        raise DataError(what, where=where, fix="give each column a name in one row")
    check_names(list(columns.values()), where)
    return columns


def _text(cell: Cell) -> str:
    """Return what a program shows for a cell without a format, and what it writes as CSV."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, int | float):
        digits = f"{cell:.15g}"  # the digits that a spreadsheet program keeps
        return f"{Decimal(digits):f}" if "e" in digits else digits
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, timedelta):
        minutes, seconds = divmod(round(cell.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return cell.isoformat() if isinstance(cell, date | time) else cell


Attributes: TypeAlias = Mapping[str, str]
Members: TypeAlias = Mapping[str, bytes]
"""The name of a file in a workbook → its content."""

_MOST_BYTES: Final = 64 * 2**20
"""Bytes of XML that a workbook may unpack to."""
_ODS_MEMBERS: Final = ("mimetype", "META-INF/manifest.xml", "content.xml")

_MOST_CELLS: Final = 2_000_000
"""Cells that a sheet may have from A1 to its last one, empty ones included: the library takes 32 bytes for each."""
_CELL: Final = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})")
_PERCENT_FORMATS: Final = {"9": True, "10": True}
"""The formats of percentages that need no definition: 0 % and 0.00 %."""
_LITERAL: Final = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""What is no sign of a format: quoted, behind a backslash, or in brackets."""
_ERROR_TEXT: Final = re.compile(r"#(?:DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!)|Err:\d+")


@dataclass
class SheetFacts:
    """What was found in a sheet. Rows and columns count from 0.

    Attributes:
        where: file and name of the sheet, such as ``questions.xlsx#Sheet1``, for errors.
        name: of the sheet.
        visible: whether the program shows it.
        last_row: of the cells that hold something; -1 without any.
        last_column: the same for columns.
        hidden: rows that the program does not show, because they were hidden or filtered.
        errors: column → row of its first cell that is shown and has no value, and why it has none.
        percents: row → columns of the numbers that are shown as percentages, 0.5 as 50 %.
        merged: first row → first column, last column and last row of each merged range that begins there.
    """

    where: str
    name: str
    visible: bool = True
    last_row: int = -1
    last_column: int = -1
    hidden: set[int] = field(default_factory=set)
    errors: dict[int, tuple[int, str]] = field(default_factory=dict)
    percents: dict[int, list[int]] = field(default_factory=dict)
    merged: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)

    def add_cell(self, row: int, column: int) -> None:
        """Note that a cell holds something.

        Raises:
            DataError: it is too far from A1.
        """
        self.last_row = max(self.last_row, row)
        self.last_column = max(self.last_column, column)
        if (self.last_row + 1) * (self.last_column + 1) > _MOST_CELLS:
            what = f"the sheet reaches from A1 to {cell_name(row, column)}, more than {_MOST_CELLS:,} cells"
            fix = "delete the cells far outside of the table, or save it as CSV UTF-8"
            raise DataError(what, where=self.where, fix=fix)

    def add_error(self, row: int, column: int, why: str) -> None:
        """Note that a cell has no value."""
        if row not in self.hidden:
            self.errors.setdefault(column, (row, why))


def cell_name(row: int, column: int) -> str:
    """Return the name of a cell as the program shows it: (0, 0) is A1."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"


def scan_sheet(path: Path, members: Members, kind: WorkbookKind, wanted: str | None) -> SheetFacts:
    """Return what is in a sheet: the one of this name, else the first that is shown.

    Raises:
        DataError: there is no such sheet, it is too large, or its XML is damaged.
    """
    try:
        parts = _xlsx_sheets(path, members) if kind == "xlsx" else {}
        sheets = [sheet for sheet, _ in parts.values()]
        if kind == "ods":
            every = _OdsScan(path)
            _parse(members["content.xml"], every.start, every.end, every.characters)
            sheets = every.sheets
        found = next((sheet for sheet in sheets if (sheet.visible if wanted is None else sheet.name == wanted)), None)
        if found is None:
            names = [sheet.name for sheet in sheets]
            what = "the workbook shows no sheet" if wanted is None else f"the workbook has no sheet {wanted!r}"
            raise DataError(what, where=str(path), fix=f"write {path.name}#SHEET with one of: {listed(names)}")
        if wanted is None and (others := [sheet.name for sheet in sheets if sheet.visible and sheet is not found]):
            logger.warning("%s: its first sheet is read; %s#SHEET reads another: %s", path, path.name, listed(others))
        if kind == "xlsx":
            scan = _XlsxScan(found, _percent_styles(members.get("xl/styles.xml", b"<none/>")))
            _parse(members[parts[found.name][1]], scan.start, scan.end, scan.characters)
    except KeyError as error:
        raise damaged_workbook(path, kind, f"it has no {error}") from None
    except (expat.ExpatError, ValueError, OverflowError) as error:
        raise damaged_workbook(path, kind, str(error)) from None
    return found


def _parse(
    text: bytes,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] | None = None,
    characters: Callable[[str], None] | None = None,
) -> None:
    """Call ``start`` and ``end`` with the name of each element, without its prefix; attributes keep theirs."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: start(name.rpartition(":")[2], attributes)
    if end is not None:
        parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
    if characters is not None:
        parser.CharacterDataHandler = characters
    parser.Parse(text, True)


def _refuse_doctype(*_: object) -> None:
    raise ValueError("its XML declares a document type")


def _xlsx_sheets(path: Path, members: Members) -> dict[str, tuple[SheetFacts, str]]:
    """Return name → sheet and the file that holds it, in the order of the workbook; charts are left out."""
    ids: dict[str, tuple[SheetFacts, str]] = {}

    def workbook(element: str, attributes: Attributes) -> None:
        if element == "sheet":
            is_shown = attributes.get("state", "visible") == "visible"
            relation = next((value for name, value in attributes.items() if name.endswith(":id")), "")
            ids[relation] = SheetFacts(f"{path}#{attributes['name']}", attributes["name"], is_shown), ""

    def relations(element: str, attributes: Attributes) -> None:
        if element == "Relationship" and attributes["Id"] in ids and attributes["Type"].endswith("/worksheet"):
            target = (PurePosixPath("xl") / attributes["Target"]).as_posix().removeprefix("/")
            ids[attributes["Id"]] = ids[attributes["Id"]][0], target

    _parse(members["xl/workbook.xml"], workbook)
    _parse(members["xl/_rels/workbook.xml.rels"], relations)
    return {sheet.name: (sheet, target) for sheet, target in ids.values() if target}


def _percent_styles(text: bytes) -> set[str]:
    """Return the numbers of the styles of cells that show a percentage."""
    formats = dict(_PERCENT_FORMATS)
    styles: list[bool] = []
    inside = ""

    def start(element: str, attributes: Attributes) -> None:
        nonlocal inside
        if element == "numFmt":
            formats[attributes["numFmtId"]] = "%" in _LITERAL.sub("", attributes["formatCode"])
        elif element in ("cellStyleXfs", "cellXfs"):
            inside = element
        elif element == "xf" and inside == "cellXfs":
            styles.append(formats.get(attributes.get("numFmtId", ""), False))

    _parse(text, start)
    return {str(number) for number, is_percent in enumerate(styles) if is_percent}


class _XlsxScan:
    """Adds what a worksheet holds to ``sheet``."""

    def __init__(self, sheet: SheetFacts, percent_styles: Collection[str]) -> None:
        self._sheet = sheet
        self._percent_styles = percent_styles
        self._row = self._column = -1
        self._type = ""
        self._has_value = self._has_formula = self._in_value = self._is_percent = False
        self._value = ""

    def start(self, element: str, attributes: Attributes) -> None:
        if element == "row":
            self._row = int(attributes.get("r", self._row + 2)) - 1
            self._column = -1
            if attributes.get("hidden") in ("1", "true"):
                self._sheet.hidden.add(self._row)
        elif element == "c":
            self._row, self._column = _place(attributes["r"]) if "r" in attributes else (self._row, self._column + 1)
            self._type = attributes.get("t", "n")
            self._is_percent = attributes.get("s") in self._percent_styles and self._type == "n"
            self._has_value = self._has_formula = False
            self._value = ""
        elif element in ("v", "is"):
            self._has_value = True
            self._in_value = self._type == "e" or self._has_formula
        elif element == "f":
            self._has_formula = True
        elif element == "mergeCell":
            first, _, last = attributes["ref"].partition(":")
            (row, column), (last_row, last_column) = _place(first), _place(last or first)
            self._sheet.merged.setdefault(row, []).append((column, last_column, last_row))

    def characters(self, text: str) -> None:
        if self._in_value:
            self._value += text

    def end(self, element: str) -> None:
        if element in ("v", "is"):
            self._in_value = False
        elif element == "c":
            if self._has_value or self._has_formula:
                self._sheet.add_cell(self._row, self._column)
            if self._has_value and self._is_percent:
                self._sheet.percents.setdefault(self._row, []).append(self._column)
            if self._type == "e" and self._has_value:
                self._sheet.add_error(self._row, self._column, f"holds the error {self._value:.20}")
            elif self._has_formula and not self._value and self._type != "str":
                self._sheet.add_error(self._row, self._column, "has a formula whose value is not stored")


def _place(name: str) -> tuple[int, int]:
    """Return row and column of a cell, from 0."""
    found = _CELL.fullmatch(name)
    if found is None:
        raise ValueError(f"{name:.20} is no cell")
    column = 0
    for letter in found[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, column - 1


class _OdsScan:
    """Collects what the tables of a document hold. Rows and cells may be repeated, up to the end of the sheet."""

    def __init__(self, path: Path) -> None:
        self.sheets: list[SheetFacts] = []
        self._path = path
        self._hidden_styles: set[str] = set()
        self._style = ""
        self._in_table = False
        self._row = self._column = 0
        self._rows = self._columns = 1
        self._is_hidden = self._in_cell = False
        self._is_error = self._has_formula = self._has_value = self._is_percent = False
        self._text = ""

    def start(self, element: str, attributes: Attributes) -> None:
        if element == "style":
            self._style = attributes.get("style:name", "")
        elif element == "table-properties" and attributes.get("table:display") == "false":
            self._hidden_styles.add(self._style)
        elif element == "table":
            if self._in_table:
                raise ValueError("a table is inside of a cell")
            self._in_table = True
            name, is_shown = attributes["table:name"], attributes.get("table:style-name") not in self._hidden_styles
            self.sheets.append(SheetFacts(f"{self._path}#{name}", name, is_shown))
            self._row = 0
        elif not self._in_table:
            return
        elif element == "table-row":
            self._rows = int(attributes.get("table:number-rows-repeated", 1))
            self._is_hidden = attributes.get("table:visibility", "visible") != "visible"
            self._column = 0
        elif element in ("table-cell", "covered-table-cell"):
            self._start_cell(attributes)
        elif element == "p" and self._in_cell:
            self._has_value = True

    def _start_cell(self, attributes: Attributes) -> None:
        self._in_cell = True
        self._columns = int(attributes.get("table:number-columns-repeated", 1))
        self._has_value = "office:value-type" in attributes
        self._is_percent = attributes.get("office:value-type") == "percentage"
        self._has_formula = "table:formula" in attributes
        self._is_error = attributes.get("calcext:value-type") == "error"
        self._text = ""
        columns = int(attributes.get("table:number-columns-spanned", 1))
        rows = int(attributes.get("table:number-rows-spanned", 1))
        if columns > 1 or rows > 1:
            span = (self._column, self._column + columns - 1, self._row + rows - 1)
            self.sheets[-1].merged.setdefault(self._row, []).append(span)

    def characters(self, text: str) -> None:
        if self._in_cell and (self._has_formula or self._is_error):
            self._text += text

    def end(self, element: str) -> None:
        if element == "table":
            self._in_table = False
        elif not self._in_table:
            return
        elif element in ("table-cell", "covered-table-cell"):
            sheet = self.sheets[-1]
            if self._has_value:
                sheet.add_cell(self._row + self._rows - 1, self._column + self._columns - 1)
                rows = range(self._row, self._row + self._rows)
                if self._is_hidden:
                    sheet.hidden.update(rows)
                for row in rows if self._is_percent else ():
                    columns = range(self._column, self._column + self._columns)
                    sheet.percents.setdefault(row, []).extend(columns)
            if self._is_error or (self._has_formula and _ERROR_TEXT.fullmatch(self._text)):
                sheet.add_error(self._row, self._column, f"holds the error {self._text:.20}")
            self._column += self._columns
            self._in_cell = False
        elif element == "table-row":
            self._row += self._rows


def unpack_workbook(path: Path, kind: WorkbookKind) -> dict[str, bytes]:
    """Return the XML files of a workbook; pictures and macros are left out.

    Raises:
        DataError: it is damaged, has a password, is of an old format, or unpacks to too much.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(OLE_MAGIC)) == OLE_MAGIC:
            raise old_workbook(path)
        try:
            members = _unpacked(path, zipfile.ZipFile(file), kind)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise damaged_workbook(path, kind, str(error)) from None
    if b"encryption-data" in members.get("META-INF/manifest.xml", b""):
        raise locked_workbook(path)
    return members


def packed(members: Members) -> io.BytesIO:
    """Return an archive of these files, whose sizes are what it says."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    content.seek(0)
    return content


def _unpacked(path: Path, archive: zipfile.ZipFile, kind: WorkbookKind) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    left = _MOST_BYTES
    for info in archive.infolist():
        is_xml = info.filename.lower().endswith((".xml", ".rels")) and info.filename != "content.xml"
        if is_xml if kind == "xlsx" else info.filename in _ODS_MEMBERS:
            with archive.open(info) as member:  # never reads more than the size that the archive states
                members[info.filename] = member.read(left + 1)
            left -= len(members[info.filename])
        if left < 0:
            what = f"the workbook unpacks to more than {_MOST_BYTES // 2**20} MiB"
            raise DataError(what, where=str(path), fix="split it, or save the sheet as CSV UTF-8")
    return members


def damaged_workbook(path: Path, kind: WorkbookKind, cause: str) -> DataError:
    """Return the error for a workbook that cannot be read."""
    what = f"the file is no workbook of the format {kind}: {cause.partition(chr(10))[0]:.100}"
    fix = "open it in a spreadsheet program, and save it again or as CSV UTF-8"
    return DataError(what, where=str(path), fix=fix)
