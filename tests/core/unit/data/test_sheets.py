"""Sheets of workbooks: what a person sees in them is what a prompt has, and what cannot be read is one sentence."""

from __future__ import annotations

import logging
import sys
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.data import LocalDataset, read_file
from ais_prompt.errors import DataError, MissingExtra
from tests.support.sheets import Cell, Sheets, write_ods, write_xlsx, write_zip, xlsx_sheet

WRITERS: dict[str, Callable[..., Path]] = {"xlsx": write_xlsx, "ods": write_ods}
EACH = pytest.mark.parametrize("kind", WRITERS)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def rows_of(path: Path | str) -> list[dict[str, Any]]:
    return list(read_file(Path(path)))


def fault_of(path: Path | str) -> DataError:
    with pytest.raises(DataError) as caught:
        rows_of(path)
    assert caught.value.fix
    assert str(path).partition("#")[0] in caught.value.where
    return caught.value


SHOWN: Sequence[tuple[Cell, Any]] = (
    ("007", "007"),
    (3, "3"),
    (3.0, "3"),
    (-0.5, "-0.5"),
    (0.1 + 0.2, "0.3"),  # a spreadsheet program keeps 15 digits
    (1e21, "1000000000000000000000"),
    (0.00001, "0.00001"),
    (date(2024, 5, 1), "2024-05-01"),
    (datetime(2024, 5, 1, 12, 30), "2024-05-01 12:30:00"),
    (True, "TRUE"),
    (None, ""),
    ("two\nlines & <signs>", "two\nlines & <signs>"),
    (" 问 ", " 问 "),
    ("=1+1", "=1+1"),
    ("#NoError", "#NoError"),
)


@EACH
def test_cells_are_texts_as_shown(tmp_path: Path, kind: str) -> None:
    rows = [["n", "value"], *([number, cell] for number, (cell, _) in enumerate(SHOWN))]
    path = WRITERS[kind](tmp_path / f"a.{kind}", {"S": rows})
    assert rows_of(path) == [{"n": str(number), "value": text} for number, (_, text) in enumerate(SHOWN)]


def test_percentages_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with_sheet(path, {"S": [["a", "b"], [0.07, 0.5], [1, 2]]}, lambda text: text.replace("<c r", '<c s="3" r'))
    members = members_of(path)
    for style, shown in {'numFmtId="10"': "7%", 'numFmtId="164"': "7%", 'numFmtId="165"': "0.07"}.items():
        formats = b'<numFmts><numFmt numFmtId="164" formatCode="0.0%"/>'
        formats += b'<numFmt numFmtId="165" formatCode="0.0&quot; %&quot;"/></numFmts><cellXfs'
        styles = members["xl/styles.xml"].replace(b"<cellXfs", formats)
        styles = styles.replace(b"</cellXfs>", f"<xf {style}/></cellXfs>".encode())
        write_zip(path, {**members, "xl/styles.xml": styles})
        assert rows_of(path)[0]["a"] == shown
    write_ods(path := tmp_path / "a.ods", {"S": [["a", "b"], [0.07, 0.5]]})
    members = members_of(path)
    write_zip(path, {**members, "content.xml": members["content.xml"].replace(b'"float"', b'"percentage"')})
    assert rows_of(path) == [{"a": "7%", "b": "50%"}]


@EACH
def test_a_column_of_booleans_has_booleans(tmp_path: Path, kind: str) -> None:
    rows: list[list[Cell]] = [["a", "b", "c", "empty"], [True, True, True], [False, None, "unknown"]]
    path = WRITERS[kind](tmp_path / f"a.{kind}", {"S": rows})
    assert rows_of(path) == [
        {"a": True, "b": "TRUE", "c": "TRUE", "empty": ""},
        {"a": False, "b": "", "c": "unknown", "empty": ""},
    ]


@EACH
def test_a_table_may_begin_anywhere(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    rows: list[list[Cell]] = [
        [],
        [],
        [None, "q", None, "a", None],
        [None, "1", "no name", 1],
        [],
        [None, "hidden", None, "#DIV/0!"],
        ["no name"],
        [None, "2", None, 2],
        ["", None, ""],
    ]
    path = WRITERS[kind](tmp_path / f"a.{kind}", {"S": rows}, hidden=[6])
    with caplog.at_level(logging.WARNING):
        assert rows_of(path) == [{"q": "1", "a": "1"}, {"q": "2", "a": "2"}]
    assert caplog.messages == [f"{path}#S: 1 hidden row left out"]


@EACH
def test_the_header_is_below_titles(tmp_path: Path, kind: str) -> None:
    rows: list[list[Cell]] = [["Our exam"], [], ["Ann, 2026"], ["Question", "Answer"], ["1?", "one"], ["2?", "two"]]
    path = WRITERS[kind](tmp_path / f"a.{kind}", {"S": rows})
    assert rows_of(path) == [{"Question": "1?", "Answer": "one"}, {"Question": "2?", "Answer": "two"}]
    one_column: list[list[Cell]] = [["question"], ["Which answer?"], ["answer", "no name"]]
    path = WRITERS[kind](tmp_path / f"b.{kind}", {"S": one_column})
    assert rows_of(path) == [{"question": "Which answer?"}, {"question": "answer"}]


@EACH
def test_sheets_have_names(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    path = WRITERS[kind](tmp_path / f"my.{kind}", {"One": [["q"], ["1"]], "二 & #2": [["q"], ["2"]]})
    with caplog.at_level(logging.WARNING):
        assert rows_of(path) == [{"q": "1"}]
    assert caplog.messages == [f"{path}: its first sheet is read; my.{kind}#SHEET reads another: 二 & #2"]
    assert rows_of(f"{path}#二 & #2") == [{"q": "2"}]
    reader = LocalDataset(f"{path}#二 & #2")
    assert reader.splits() == ("my",)
    assert list(reader.read("my")) == [{"q": "2"}]
    fault = fault_of(f"{path}#Two")
    assert fault.what == "the workbook has no sheet 'Two'"
    assert fault.fix == f"write my.{kind}#SHEET with one of: One, 二 & #2"


@EACH
def test_a_folder_has_sheets_as_splits(tmp_path: Path, kind: str) -> None:
    for split in ("train", "test"):
        WRITERS[kind](tmp_path / f"{split}.{kind}", {"S": [["q"], [split]]})
    reader = LocalDataset(str(tmp_path))
    assert [row["q"] for split in reader.splits() for row in reader.read(split)] == ["train", "test"]
    named = LocalDataset(str(tmp_path), data_files={"test": f"test.{kind}#S"})
    assert [row["q"] for row in named.read("test")] == ["test"]


FAULTS: Sequence[tuple[str, Sequence[Sequence[Cell]], str]] = (
    ("", [], "the sheet is empty"),
    (":2", [[], ["q", "a"]], "a header and no rows"),
    (":1", [["q", "q"], ["1", "2"]], "two columns have one name"),
    (":3", [["q", "a"], ["1", "2"], ["3", "#DIV/0!"]], "the cell B3 holds the error #DIV/0!"),
    (":2", [["q", "a"], ["1", "#N/A"], ["3", "#REF!"]], "the cell B2 holds the error #N/A"),
    (":2", [["q", "a"], ["1", "#SPILL!"]], "the cell B2 holds the error #SPILL!"),
    (":1", [["q", "#NAME?"], ["1", "2"]], "the cell B1 holds the error #NAME?"),
)


@EACH
def test_a_fault_names_the_row_as_the_sheet_does(tmp_path: Path, kind: str) -> None:
    for place, rows, what in FAULTS:
        path = WRITERS[kind](tmp_path / f"a.{kind}", {"Sheet 1": rows})
        fault = fault_of(path)
        assert fault.where == f"{path}#Sheet 1{place}", what
        assert what in fault.what


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_sheet(path: Path, sheets: Sheets, change: Callable[[str], str]) -> Path:
    """Write a workbook of Excel whose first sheet is changed."""
    write_xlsx(path, sheets)
    members = members_of(path)
    text = xlsx_sheet(next(iter(sheets.values())))
    return write_zip(path, {**members, "xl/worksheets/sheet1.xml": change(text)})


def merged(path: Path, rows: Sequence[Sequence[Cell]], *ranges: str) -> Path:
    cells = "".join(f'<mergeCell ref="{cells}"/>' for cells in ranges)
    return with_sheet(
        path, {"S": rows}, lambda text: text.replace("</worksheet>", f"<mergeCells>{cells}</mergeCells></worksheet>")
    )


def test_merged_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    rows = [["Our exam"], [], ["text", "q"], ["A long text.", "1"], [None, "2"], ["Another.", "3"], [None, "4"]]
    merged(path, rows, "A1:B2", "A4:A5")
    assert [row["text"] for row in rows_of(path)] == ["A long text.", "A long text.", "Another.", ""]
    merged(path, [["q", "options"], ["1", "a", "b"]], "B1:C1")
    assert fault_of(path).what == "the header merges the cells B1:C1"


def test_merged_cells_of_open_documents(tmp_path: Path) -> None:
    path = write_ods(tmp_path / "a.ods", {"S": [["text", "q"], ["A long text.", "1"], [None, "2"]]})
    members = members_of(path)
    cell = b'<table:table-cell office:value-type="string"><text:p>A long'
    spanned = cell.replace(b" office", b' table:number-rows-spanned="2" office')
    write_zip(path, {**members, "content.xml": members["content.xml"].replace(cell, spanned)})
    assert [row["text"] for row in rows_of(path)] == ["A long text.", "A long text."]


def test_a_formula_has_the_value_that_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    sheets: Sheets = {"S": [["q", "a"], ["1+1", 2], ["none", None]]}
    with_sheet(path, sheets, lambda text: text.replace("<v>2</v>", "<f>1+1</f><v>2</v>"))
    assert rows_of(path) == [{"q": "1+1", "a": "2"}, {"q": "none", "a": ""}]
    with_sheet(path, sheets, lambda text: text.replace("<v>2</v>", "<f>1+1</f><v></v>"))
    assert fault_of(path).what == "the cell B2 has a formula whose value is not stored"
    assert fault_of(path).where == f"{path}#S:2"


def test_only_sheets_that_are_shown_come_first(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", {"Hidden": [["q"], ["1"]], "Shown": [["q"], ["2"]]})
    members = members_of(path)
    text = members["xl/workbook.xml"].replace(b'name="Hidden"', b'name="Hidden" state="hidden"')
    write_zip(path, {**members, "xl/workbook.xml": text})
    assert rows_of(path) == [{"q": "2"}]
    assert rows_of(f"{path}#Hidden") == [{"q": "1"}]


def far(path: Path) -> Path:
    far_cell = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    return with_sheet(path, {"S": [["q"], ["1"]]}, lambda text: text.replace("</sheetData>", far_cell))


def repeated(path: Path) -> Path:
    write_ods(path, {"Other": [["q"], ["1"]], "S": [["q"], ["1"]]})
    members = members_of(path)
    text = members["content.xml"].replace(
        b"<table:table-row><table:table-cell office",
        b'<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="9000"'
        b" office",
    )
    return write_zip(path, {**members, "content.xml": text})


def bomb(path: Path) -> Path:
    return with_sheet(path, {"S": [["q"], ["1"]]}, lambda text: text + " " * (65 * 2**20))


def lying_bomb(path: Path) -> Path:
    """Write an archive that states a size of 16 bytes for each file."""
    bomb(path)
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02")
    while at >= 0:
        content[at + 24 : at + 28] = (16).to_bytes(4, "little")
        at = content.find(b"PK\x01\x02", at + 4)
    path.write_bytes(content)
    return path


def entities(path: Path) -> Path:
    text = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]>'
    return with_sheet(path, {"S": [["q"], ["1"]]}, lambda sheet: text + sheet)


def content_of(content: bytes) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_bytes(content)
        return path

    return write


def cut(path: Path) -> Path:
    write_xlsx(path, {"S": [["q"], ["1"]]})
    path.write_bytes(path.read_bytes()[:-30])
    return path


def encrypted_ods(path: Path) -> Path:
    manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>"
    mimetype = "application/vnd.oasis.opendocument.spreadsheet"
    return write_zip(path, {"mimetype": mimetype, "META-INF/manifest.xml": manifest, "content.xml": b"\x8f\x00"})


REFUSED: Sequence[tuple[str, Callable[[Path], Path], str]] = (
    ("a.xlsx", far, "the sheet reaches from A1 to XFD1048576"),
    ("a.ods", repeated, "the sheet reaches from A1 to"),
    ("a.xlsx", bomb, "unpacks to more than 64 MiB"),
    ("a.xlsx", lying_bomb, "no workbook of the format xlsx: "),
    ("a.xlsx", entities, "its XML declares a document type"),
    ("a.xlsx", cut, "no workbook of the format xlsx: File is not a zip file"),
    ("a.xlsx", content_of(b"PK\x03\x04"), "no workbook of the format xlsx: File is not a zip file"),
    ("a.ods", content_of(b"q,a\n"), "no workbook of the format ods"),
    ("a.xlsx", content_of(b""), "the file is empty"),
    ("a.xlsx", lambda path: write_zip(path, {"a.txt": "1"}), "no workbook of the format xlsx"),
    ("a.xlsx", content_of(OLE + "EncryptedPackage".encode("utf-16-le")), "the workbook has a password"),
    ("a.ods", encrypted_ods, "the workbook has a password"),
    ("a.xls", content_of(OLE), "a workbook of an old format (.xls)"),
    ("a.xlsx", content_of(OLE), "a workbook of an old format (.xls)"),
    ("a.xlsb", lambda path: write_zip(path, {"xl/workbook.bin": b"1"}), "a binary workbook (.xlsb)"),
)


@pytest.mark.thorough
def test_a_workbook_that_cannot_be_read(tmp_path: Path) -> None:
    for name, write, what in REFUSED:
        fault = fault_of(write(tmp_path / name))
        assert what in fault.what
        assert "\n" not in fault.what


def test_a_workbook_is_one_by_its_content(tmp_path: Path) -> None:
    for kind, write in WRITERS.items():
        for name in (f"{kind} sheet", f"{kind}.csv", f"{kind}.txt", f"{kind}.xlsm.bak", f"{kind}.xlsx", f"{kind}.ods"):
            assert rows_of(write(tmp_path / name, {"S": [["q"], [kind]]})) == [{"q": kind}], name
    assert rows_of(write_xlsx(tmp_path / "a.xlsm", {"S": [["q"], ["1"]]})) == [{"q": "1"}]


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", {"S": [["q"], ["1"]]})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtra, match=r"reading \.xlsx needs the package 'python_calamine'") as caught:
        rows_of(path)
    assert "[sheets]" in caught.value.fix
