"""Write small workbooks, as Excel (``.xlsx``) and LibreOffice (``.ods``) do."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Final, TypeAlias
from xml.sax.saxutils import escape, quoteattr

Cell: TypeAlias = "str | int | float | bool | date | None"
"""A text such as ``#DIV/0!`` or ``#N/A`` is an error value."""
Sheets: TypeAlias = Mapping[str, Sequence[Sequence[Cell]]]

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ODF: Final = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in (("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"))
)
_EPOCH: Final = datetime(1899, 12, 30)
_STYLES: Final = (
    f'<styleSheet xmlns="{_MAIN}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs>'
    "</styleSheet>"
)


def write_xlsx(path: Path, sheets: Sheets, hidden: Sequence[int] = ()) -> Path:
    """Write a workbook; ``hidden`` are the numbers of hidden rows, from 1."""
    members = {
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}">'
        f'<Relationship Id="w" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        + "".join(
            f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"/>'
            for number, name in enumerate(sheets, 1)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">'
        + "".join(
            f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
            for number in range(1, len(sheets) + 1)
        )
        + f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
    }
    for number, rows in enumerate(sheets.values(), 1):
        members[f"xl/worksheets/sheet{number}.xml"] = xlsx_sheet(rows, hidden)
    return write_zip(path, members)


def xlsx_sheet(rows: Sequence[Sequence[Cell]], hidden: Sequence[int] = ()) -> str:
    """Return the XML of one sheet."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(_xlsx_cell(f"{letters(column)}{number}", cell) for column, cell in enumerate(row))
        lines.append(
            f'<row r="{number}"{" hidden=" + chr(34) + "1" + chr(34) if number in hidden else ""}>{cells}</row>'
        )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def letters(column: int) -> str:
    """Return the letters of a column, from 0: A, B, …, Z, AA."""
    return ("" if column < 26 else letters(column // 26 - 1)) + chr(ord("A") + column % 26)


def _xlsx_cell(name: str, cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{name}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, date):
        style, moment = (2, cell) if isinstance(cell, datetime) else (1, datetime(cell.year, cell.month, cell.day))
        return f'<c r="{name}" s="{style}"><v>{(moment - _EPOCH).total_seconds() / 86400}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{name}"><v>{cell!r}</v></c>'
    if _is_error(cell):
        return f'<c r="{name}" t="e"><f>1/0</f><v>{cell}</v></c>'
    return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'


def write_ods(path: Path, sheets: Sheets, hidden: Sequence[int] = ()) -> Path:
    """Write a workbook; ``hidden`` are the numbers of hidden rows, from 1."""
    tables = []
    for name, rows in sheets.items():
        lines = []
        for number, row in enumerate(rows, 1):
            visibility = ' table:visibility="collapse"' if number in hidden else ""
            lines.append(f"<table:table-row{visibility}>{''.join(map(_ods_cell, row))}</table:table-row>")
        # LibreOffice fills the sheet up to its last row and column.
        lines.append(
            '<table:table-row table:number-rows-repeated="1048000">'
            '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
        )
        tables.append(f"<table:table table:name={quoteattr(name)}>{''.join(lines)}</table:table>")
    body = f"<office:body><office:spreadsheet>{''.join(tables)}</office:spreadsheet></office:body>"
    return write_zip(
        path,
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:'
            'manifest:1.0"><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
            "</manifest:manifest>",
            "content.xml": f"<office:document-content {_ODF}>{body}</office:document-content>",
        },
    )


def _ods_cell(cell: Cell) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, bool):
        return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(cell).lower()}"/>'
    if isinstance(cell, date):
        return f'<table:table-cell office:value-type="date" office:date-value="{cell.isoformat()}"/>'
    if isinstance(cell, int | float):
        return f'<table:table-cell office:value-type="float" office:value="{cell!r}"/>'
    if _is_error(cell):
        return (
            '<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" '
            'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" '
            f'calcext:value-type="error"><text:p>{cell}</text:p></table:table-cell>'
        )
    lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in cell.split("\n"))
    return f'<table:table-cell office:value-type="string">{lines}</table:table-cell>'


def _is_error(cell: str) -> bool:
    return re.fullmatch("#[A-Z0/]+[!?]?", cell) is not None


def write_zip(path: Path, members: Mapping[str, str | bytes]) -> Path:
    """Write the members into a zip, compressed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path
