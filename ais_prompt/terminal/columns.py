"""Tables and headings for a terminal of any width, and for pipes: nothing is cut, and no column is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.rule import Rule
from rich.style import Style
from rich.text import Text

from ais_prompt.utils import one_line, printable

_GAP: Final = "  "
_SHORT_TITLE: Final = 14
"""Widest title in a stack with several values on a line: below names of models, one value a line reads better."""

Cell: TypeAlias = str | Text


class Column(Struct, frozen=True):
    """How one column is shown.

    Attributes:
        title: its title, on one line.
        is_name: whether it says what a row is about. Names come first.
        right: whether its cells are aligned to the right.
    """

    title: str
    is_name: bool = False
    right: bool = True


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], console: Console) -> None:
    """Print a table. A pipe or file gets one line for each row.

    In a terminal that is too narrow for that, each row is a stack: a line with its names, and below it as many pairs of
    title and value as fit on a line. The value of a pair that does not fit on one is below its title.

    Args:
        columns: names first, then values.
        rows: one cell for each column.
        console: where to.
    """
    lines = _aligned(columns, rows)
    if not console.is_terminal:
        console.file.writelines(f"{_GAP.join(line)}\n" for line in lines)
    elif _width(lines[0]) <= console.width:
        titles: list[str | Style] = ["bold"] * len(columns)
        styles = [titles, *([_style(cell) for cell in row] for row in rows)]
        for line, styled in zip(lines, styles, strict=True):
            cells = (Text(text, style) for text, style in zip(line, styled, strict=True))
            console.print(Text(_GAP).join(cells), soft_wrap=True)
    else:
        for row in rows:
            for text in _stack(columns, row, console.width):
                console.print(text, soft_wrap=True)


def fits(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], console: Console) -> bool:
    """Return whether the lines of a table with one line for each row are not wider than the console."""
    return _width(_aligned(columns, rows)[0]) <= console.width


def fitted(text: str, width: int) -> str:
    """Return a name with at most so many columns of a terminal; a longer one is cut in the middle."""
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{set_cell_size(text, width - 1 - tail)}…{set_cell_size(text[::-1], tail)[::-1]}"


def print_heading(title: str, console: Console, style: str = "bold") -> None:
    """Print a title followed by a rule, or without it if there is no room; the title is never cut."""
    text = Text(printable(title), style=style)
    if cell_len(text.plain) + 4 <= console.width:
        console.print(Rule(text, align="left", style="dim" if style == "dim" else "rule.line"))
    else:
        console.print(text, soft_wrap=True)


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Pad titles and cells, so that those of a column are equally wide.

    A table of rich takes ten times as long, which is seconds for a thousand tasks.
    """
    texts = [[one_line(str(cell)) for cell in line] for line in [[column.title for column in columns], *rows]]
    for place, column in enumerate(columns):
        widths = [cell_len(line[place]) for line in texts]
        widest = max(widths)
        for line, width in zip(texts, widths, strict=True):
            padding = " " * (widest - width)
            line[place] = f"{padding}{line[place]}" if column.right else f"{line[place]}{padding}"
    return texts


def _stack(columns: Sequence[Column], row: Sequence[Cell], width: int) -> Iterator[Text]:
    """Yield the lines of one row: its names, then pairs of title and value in columns of one width."""
    cells = [
        (column, one_line(str(cell)), _style(cell)) for column, cell in zip(columns, row, strict=True) if str(cell)
    ]
    yield Text(" · ", "dim").join(Text(text, "bold") for column, text, _ in cells if column.is_name)
    values = [(printable(column.title), text, style) for column, text, style in cells if not column.is_name]
    widest = max((cell_len(title) for title, *_ in values), default=0)
    pairs = [
        Text.assemble((title + " " * (widest + 1 - cell_len(title)), "dim"), (text, style))
        for title, text, style in values
    ]
    size = max((pair.cell_len for pair in pairs), default=0)
    if len(_GAP) + size > width:
        for title, text, style in values:
            yield Text.assemble(_GAP, (title, "dim"))
            yield Text.assemble(2 * _GAP, (text, style))
        return
    each_line = max(1, (width - len(_GAP)) // (size + len(_GAP))) if widest <= _SHORT_TITLE else 1
    for start in range(0, len(pairs), each_line):
        line = pairs[start : start + each_line]
        for pair in line[:-1]:
            pair.pad_right(size - pair.cell_len)
        yield Text(_GAP).append_text(Text(_GAP).join(line))


def _width(line: Sequence[str]) -> int:
    return sum(map(cell_len, line)) + len(_GAP) * (len(line) - 1)


def _style(cell: Cell) -> str | Style:
    return cell.style if isinstance(cell, Text) else ""
