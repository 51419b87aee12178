"""Tables and headings in terminals and pipes of any width."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ais_prompt.terminal import Column, print_heading, print_table

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


@pytest.mark.thorough
@given(tables(), st.sampled_from([20, 60, 80, 100, 200]))
def test_a_terminal_cuts_nothing(table: tuple[list[Column], list[list[str]]], width: int) -> None:
    columns, rows = table
    lines = printed(columns, rows, width, terminal=True)
    for row in rows:
        names = [cell for cell, column in zip(row, columns, strict=True) if column.is_name]
        assert " · ".join(names) in lines or any(all(cell in line for cell in row) for line in lines)
        for place, column in enumerate(columns):
            if not column.is_name:
                assert re.search(rf"(?<!\S){column.title}(?!\S)", "\n".join(lines))
                assert any(re.search(rf"(?<!\S){re.escape(row[place])}(?!\S)", line) for line in lines)
    assert max(map(cell_len, lines)) <= max(width, *(cell_len(" · ".join(row[: len(columns)])) for row in rows))


@pytest.mark.parametrize("width", [24, 36, 80])
def test_values_of_a_narrow_terminal_are_aligned(width: int) -> None:
    columns = [Column("dataset", is_name=True, right=False), Column("metric", is_name=True, right=False)]
    columns += [Column(title) for title in ("score", "scored", "failed", "95 %")]
    lines = printed(columns, [["college-mathematics", "accuracy", "50.0 %", "10", "0", "24–76"]], width, terminal=True)
    assert (
        lines
        == {
            24: [
                "college-mathematics · accuracy",
                "  score  50.0 %",
                "  scored 10",
                "  failed 0",
                "  95 %   24–76",
            ],
            36: ["college-mathematics · accuracy", "  score  50.0 %  scored 10", "  failed 0       95 %   24–76"],
            80: [
                "dataset              metric     score  scored  failed   95 %",
                "college-mathematics  accuracy  50.0 %      10       0  24–76",
            ],
        }[width]
    )


@given(tables(), st.sampled_from([60, 80, 200]))
def test_a_pipe_has_one_line_for_each_row(table: tuple[list[Column], list[list[str]]], width: int) -> None:
    columns, rows = table
    lines = printed(columns, rows, width, terminal=False)
    assert [line.split() for line in lines] == [
        [column.title for column in columns],
        *([word for cell in row for word in cell.split()] for row in rows),
    ]


def test_a_value_that_does_not_fit_beside_its_title_is_below_it() -> None:
    model = "some-organisation/a-model-with-a-very-long-name-小学数学-instruct"
    columns = [Column("dataset", is_name=True, right=False), Column(model)]
    assert printed(columns, [["sums", "50.0 %"]], 60, terminal=True) == ["sums", f"  {model}", "    50.0 %"]


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("title", ["short", "long" * 40, "小学数学" * 12])
def test_a_heading_is_never_cut(title: str, terminal: bool) -> None:
    stream = io.StringIO()
    print_heading(title, Console(file=stream, width=60, force_terminal=terminal, color_system=None))
    assert title in stream.getvalue()
