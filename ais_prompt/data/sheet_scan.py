"""Look through the XML of a workbook for what the library that reads its cells does not tell.

`python-calamine` returns an error value as an empty cell, does not know which rows are hidden, and reserves memory for
every cell up to the last one, wherever that is.

Sources: ECMA-376, part 1, section 18.3 (``.xlsx``); OpenDocument 1.3, part 3, section 9 (``.ods``).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias
from xml.parsers import expat

from ais_prompt.data.workbook import Members, WorkbookKind, damaged_workbook
from ais_prompt.errors import DataError
from ais_prompt.utils import listed

logger = logging.getLogger(__name__)

Attributes: TypeAlias = Mapping[str, str]

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
        sheets = [sheet for sheet, _ in parts.values()] if kind == "xlsx" else _scanned_ods(path, members)
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


def _scanned_ods(path: Path, members: Members) -> list[SheetFacts]:
    scan = _OdsScan(path)
    _parse(members["content.xml"], scan.start, scan.end, scan.characters)
    return scan.sheets


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
