"""Tables and headings for a terminal of any width, and for pipes: nothing is cut, no column is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.rule import Rule
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ais_prompt.utils.text import printable

SHORTEST_NAME: Final = 7
"""Minimum width of a folded name: that of the title "dataset"."""
MODERATE_NAME: Final = 14
"""Width to which names are folded before the columns are split into several tables."""
_GAP: Final = 2
_UNLIMITED: Final = 1_000_000
"""A width that no table reaches."""

Cell: TypeAlias = str | Text


class Column(Struct, frozen=True):
    """How one column is shown.

    Attributes:
        title: its title on one line.
        is_name: whether it says what a row is about. Names come first, may be folded, and are repeated in each part.
        right: whether its cells are aligned to the right.
        folded: the title on several lines, for a terminal that is too narrow; the same as ``title`` if empty.
    """

    title: str
    is_name: bool = False
    right: bool = True
    folded: str = ""


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], console: Console) -> None:
    """Print a table. A pipe or file gets one line per row; in a terminal the table is fitted to the width.

    If the table is too wide, titles are folded, then long names. Columns that still do not fit are in further
    tables, each with the names in front. Values are never folded or cut.

    Args:
        columns: names first, then values.
        rows: one cell for each column.
        console: where to.
    """
    titles = [column.title for column in columns]
    lines = _aligned(columns, [titles, *([str(cell) for cell in row] for row in rows)])
    if not console.is_terminal:
        console.file.writelines(f"{(' ' * _GAP).join(line)}\n" for line in lines)
        return
    if sum(map(cell_len, lines[0])) + _GAP * (len(columns) - 1) <= console.width:
        rest = ([cell.style if isinstance(cell, Text) else "" for cell in row] for row in rows)
        styles: Iterator[Sequence[str | Style]] = chain([["bold"] * len(columns)], rest)
        for line, styled in zip(lines, styles, strict=True):
            cells = (Text(text, style) for text, style in zip(line, styled, strict=True))
            console.print(Text(" " * _GAP).join(cells), soft_wrap=True)
        return
    for number, part in enumerate(_parts(columns, rows, console)):
        if number:
            console.print()
        # Below `narrowest`, rich would cut values; let the terminal wrap such lines instead.
        narrowest = _width(_table(columns, rows, part, longest_name=SHORTEST_NAME), console)
        console.print(_Sized(_table(columns, rows, part), max(console.width, narrowest)), crop=False)


def print_heading(title: str, console: Console, style: str = "bold") -> None:
    """Print a title followed by a rule, or without it if there is no room; the title is never cut."""
    text = Text(printable(title), style=style)
    if cell_len(text.plain) + 4 <= console.width:
        console.print(Rule(text, align="left", style="dim" if style == "dim" else "rule.line"))
    else:
        console.print(text, soft_wrap=True)


def _parts(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], console: Console) -> Iterator[list[int]]:
    """Yield the columns of each table: the names, and as many remaining values as fit."""
    names = [place for place, column in enumerate(columns) if column.is_name]
    left = [place for place, column in enumerate(columns) if not column.is_name]
    while left:
        end = len(left)
        while end > 1 and not _fits(_table(columns, rows, names + left[:end], longest_name=MODERATE_NAME), console):
            end -= 1
        yield names + left[:end]
        left = left[end:]


def _aligned(columns: Sequence[Column], cells: Iterable[Sequence[str]]) -> list[list[str]]:
    """Pad titles and cells, so that those of a column are equally wide.

    A table of rich takes ten times as long, which is seconds for a thousand tasks.
    """
    texts = [[printable(cell).replace("\n", r"\n") for cell in line] for line in cells]
    for place, column in enumerate(columns):
        widths = [cell_len(line[place]) for line in texts]
        widest = max(widths)
        for line, width in zip(texts, widths, strict=True):
            padding = " " * (widest - width)
            line[place] = f"{padding}{line[place]}" if column.right else f"{line[place]}{padding}"
    return texts


class _Sized:
    """A table in a width that may be more than the console's."""

    def __init__(self, table: Table, width: int) -> None:
        self.table = table
        self.width = width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from console.render(self.table, options.update(width=self.width))


def _fits(table: Table, console: Console) -> bool:
    return _width(table, console) <= console.width


def _width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(width=_UNLIMITED), table).maximum


def _table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    part: Sequence[int],
    *,
    folded: bool = True,
    longest_name: int | None = None,
) -> Table:
    """Return some of the columns as a table, with folded or whole titles, and names up to a width."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for place in part:
        column = columns[place]
        justify: Literal["left", "right"] = "right" if column.right else "left"
        title = printable(column.title)
        if folded and column.is_name:
            table.add_column(title, justify=justify, overflow="fold", min_width=SHORTEST_NAME, max_width=longest_name)
            continue
        if folded:
            widest = max((cell_len(str(row[place])) for row in rows), default=0)
            lines = (column.folded or title).split("\n")
            title = "\n".join(piece for line in lines for piece in chop_cells(line, max(widest, MODERATE_NAME)))
        table.add_column(Text(title), justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(_printable(row[place]) for place in part))
    return table


def _printable(cell: Cell) -> Text:
    text = Text(cell) if isinstance(cell, str) else cell
    text.plain = printable(text.plain)
    return text
