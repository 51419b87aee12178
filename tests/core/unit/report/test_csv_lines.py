"""A cell of CSV is never a formula, and reads back as it was."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.report import csv_lines

CELLS = st.text(st.sampled_from("=+-@＝＋－＠\t\r\n '\",.|!0123456789eE%abc"), max_size=12) | st.text(max_size=12)


def read_back(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def is_number(text: str) -> bool:
    try:
        float(text.replace(",", "").rstrip("% "))
    except ValueError:
        return False
    return True


@given(st.lists(CELLS, min_size=1, max_size=4), CELLS)
def test_a_cell_is_a_number_or_begins_harmlessly(cells: list[str], column: str) -> None:
    header, *rows = read_back(csv_lines([column, "b"], [{column: cell} if column != "b" else {} for cell in cells]))
    for original, cell in [
        (column, header[0]),
        *(zip(cells, (row[0] for row in rows), strict=True) if column != "b" else ()),
    ]:
        assert cell in (original, f"'{original}")
        assert is_number(cell) or cell.lstrip(" ")[:1] not in tuple("=+-@＝＋－＠\t\r\n")


@pytest.mark.parametrize("cell", ["-5", "+3.25", "-1,234.5", "-1e-7", "-12 %", "plain", "a=b", "", "'quoted"])
def test_numbers_and_other_texts_stay(cell: str) -> None:
    assert read_back(csv_lines(["a", "b"], [{"a": cell, "b": -1.5}])) == [["a", "b"], [cell, "-1.5"]]


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "－x", " =1", "-", "-.", "-1-"]
)
def test_a_formula_gets_an_apostrophe(cell: str) -> None:
    assert read_back(csv_lines([cell], [{cell: cell}])) == [[f"'{cell}"], [f"'{cell}"]]
