"""Read a sheet of a workbook (``.xlsx``, ``.ods``) as it is shown: texts, and booleans in a column of booleans."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ais_prompt.data.batches import StoredBatches, store_rows
from ais_prompt.data.csv_rows import check_names, header_alone
from ais_prompt.data.data_shapes import ANSWERS, QUESTIONS, plain_name
from ais_prompt.data.sheet_scan import SheetFacts, cell_name, scan_sheet
from ais_prompt.data.workbook import WorkbookKind, damaged_workbook, packed, unpack_workbook
from ais_prompt.errors import DataError
from ais_prompt.utils import counted, require

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
