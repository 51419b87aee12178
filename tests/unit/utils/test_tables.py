"""Tables and headings in terminals and pipes of any width."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ais_prompt.utils.tables import Column, print_heading, print_table

NAMES = st.text(st.sampled_from("abcXYZ-_./小学数学应用题目"), min_size=1, max_size=60)
NUMBERS = st.from_regex(r"[1-9]\d{0,5}(\.\d)? ?%?", fullmatch=True).map(str.strip)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Column], list[list[str]]]:
    names, values = draw(st.integers(1, 3)), draw(st.integers(1, 12))
    titles = [f"name{number}" for number in range(names)]
    columns = [Column(title, is_name=True, right=False) for title in titles]
    columns += [Column(f"v{number}") for number in range(values)]
    rows = draw(st.lists(st.tuples(*[NAMES] * names, *[NUMBERS] * values), min_size=1, max_size=4))
    return columns, [list(row) for row in rows]


def printed(columns: list[Column], rows: list[list[str]], width: int, *, terminal: bool) -> list[str]:
    stream = io.StringIO()
    print_table(columns, rows, Console(file=stream, width=width, force_terminal=terminal, color_system=None))
    return stream.getvalue().splitlines()


@given(tables(), st.sampled_from([60, 80, 100, 200]))
def test_a_terminal_loses_no_column_and_cuts_no_value(table: tuple[list[Column], list[list[str]]], width: int) -> None:
    columns, rows = table
    lines = printed(columns, rows, width, terminal=True)
    text = "\n".join(lines)
    for place, column in enumerate(columns):
        assert re.search(rf"(?<!\S){column.title}(?!\S)", text)
        if not column.is_name:
            for row in rows:
                assert re.search(rf"(?<!\S){re.escape(row[place])}(?!\S)", text)
    assert "…" not in text
    assert max(map(cell_len, lines)) <= width
    letters = sum(text.count(letter) for letter in "小学数学应用题目")
    assert letters >= sum(cell.count(letter) for row in rows for cell in row for letter in "小学数学应用题目")


@given(tables(), st.sampled_from([60, 80, 200]))
def test_a_pipe_has_one_line_for_each_row(table: tuple[list[Column], list[list[str]]], width: int) -> None:
    columns, rows = table
    lines = printed(columns, rows, width, terminal=False)
    assert [line.split() for line in lines] == [
        [column.title for column in columns],
        *([word for cell in row for word in cell.split()] for row in rows),
    ]


def test_the_title_of_a_value_may_be_a_long_name() -> None:
    model = "some-organisation/a-model-with-a-very-long-name-小学数学-instruct"
    lines = printed([Column("dataset", is_name=True, right=False), Column(model), Column(model)], [["a", "1", "2"]], 60,
                    terminal=True)  # fmt: skip
    assert max(map(cell_len, lines)) <= 60
    assert "".join(lines).count("小学数学") + "".join(lines).count("小学") >= 2


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("title", ["short", "long" * 40, "小学数学" * 12])
def test_a_heading_is_never_cut(title: str, terminal: bool) -> None:
    stream = io.StringIO()
    print_heading(title, Console(file=stream, width=60, force_terminal=terminal, color_system=None))
    assert title in stream.getvalue()
