"""The summary for the eye: models side by side, or one model with all there is, and what must be said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ais_prompt.report.formats import LONG_HEADER, long_cells
from ais_prompt.report.notes import notes
from ais_prompt.report.outcome import Row
from ais_prompt.report.pivot import Line, cell, models_of, pivot
from ais_prompt.utils.text import printable

_COUNTS = {"unparsed": "yellow", "truncated": "yellow", "failed": "bold red"}
"""The style of a count that is not zero."""
_FOLDED = {"unparsed": "un-\nparsed", "truncated": "trun-\ncated"}
_SHORTEST_NAME = len("dataset")
"""Names, and the titles of their columns, are folded to no less than this, in cells of the terminal."""

Form: TypeAlias = Callable[[int | None], Table]
"""Makes a table, given the most cells of a name; None if names are whole."""


def print_summary(rows: Sequence[Row], console: Console, *, full: bool = False) -> None:
    """Print the scores, and what must be said of them.

    In a terminal that is too narrow, the less important columns are left out, then long names are folded, never
    numbers; models that do not fit side by side come in further tables. In a file or pipe every row is one line.

    Args:
        rows: of `ais_prompt.report.outcome.summary_rows`.
        console: where to.
        full: whether several models are also listed with all there is.
    """
    models = models_of(rows)
    if len(models) > 1:
        _print_pivot(pivot(rows), models, console)
    if len(models) == 1 or full:
        if full and len(models) > 1:
            console.print()
        without = {"bounds"} if not any(row.unscored for row in rows) else set()
        forms = [_long(rows, without), _long(rows, {"bounds"}), _long(rows, {"95 %", "bounds"}, _FOLDED)]
        _print_fitted(forms, console)
    said = notes(rows)
    for note in ["", *said] if said else []:
        console.print(Text(printable(note)), soft_wrap=not console.is_terminal)


def _print_pivot(lines: Sequence[Line], models: Sequence[str], console: Console) -> None:
    """As many models side by side as there is room for, then the next ones."""
    begin = 0
    while begin < len(models):
        end = len(models)
        while console.is_terminal and end > begin + 1 and not _fits(_side_by_side(lines, models, begin, end), console):
            end -= 1
        if begin:
            console.print()
        _print_fitted([_side_by_side(lines, models, begin, end)], console)
        begin = end


def _print_fitted(forms: Sequence[Form], console: Console) -> None:
    """The first form in its natural width if there is room for it, else the next; the last one is folded to fit."""
    for form in forms:
        table = form(None)
        natural = _width(table, console)
        if natural <= console.width or not console.is_terminal:
            console.print(_Sized(table, natural), crop=False)
            return
    # Below this width rich would cut numbers; the terminal itself may then break the line.
    least = _width(forms[-1](_SHORTEST_NAME), console)
    console.print(_Sized(table, max(console.width, least)), crop=False)


class _Sized:
    """A table in a width that may be more than the console's."""

    def __init__(self, table: Table, width: int) -> None:
        self.table = table
        self.width = width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from console.render(self.table, options.update(width=self.width))


def _fits(form: Form, console: Console) -> bool:
    """Whether there is room, names folded to a moderate length."""
    return _width(form(2 * _SHORTEST_NAME), console) <= console.width


def _width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(width=10_000), table).maximum


def _empty_table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def _long(rows: Sequence[Row], without: set[str], titles: Mapping[str, str] | None = None) -> Form:
    """One line for each row, without some of the columns."""

    def form(longest_name: int | None) -> Table:
        table = _empty_table()
        for name in LONG_HEADER:
            if name in ("dataset", "model"):
                table.add_column(name, overflow="fold", min_width=_SHORTEST_NAME, max_width=longest_name)
            elif name not in without:
                title = (titles or {}).get(name, name)
                table.add_column(title, justify="left" if name == "metric" else "right", no_wrap=True)
        for row in rows:
            cells = zip(LONG_HEADER, long_cells(row), strict=True)
            table.add_row(*(Text(printable(text), _style(name, row)) for name, text in cells if name not in without))
        return table

    return form


def _style(column: str, row: Row) -> str:
    if column == "score":
        return "red" if row.score is None else "bold"
    return _COUNTS[column] if column in _COUNTS and getattr(row, column) else ""


def _side_by_side(lines: Sequence[Line], models: Sequence[str], begin: int, end: int) -> Form:
    """Data sets as lines, the models from ``begin`` to ``end`` as columns."""

    def form(longest_name: int | None) -> Table:
        table = _empty_table()
        table.add_column("dataset", overflow="fold", min_width=_SHORTEST_NAME, max_width=longest_name)
        table.add_column("metric", no_wrap=True)
        table.add_column("n", justify="right", no_wrap=True)
        for column in range(begin, end):
            widest = max(len(cell(line.rows[column])) for line in lines)
            longest = None if longest_name is None else max(longest_name, widest)
            table.add_column(
                printable(models[column]), justify="right", overflow="fold", max_width=longest, min_width=widest
            )
        for line in lines:
            cells = [Text(cell(row), _cell_style(row)) for row in line.rows[begin:end]]
            table.add_row(Text(printable(line.dataset)), Text(line.metric or ""), Text(line.n), *cells)
        return table

    return form


def _cell_style(row: Row | None) -> str:
    if row is None or row.score is None:
        return "red"
    return "bold red" if row.failed else "bold yellow" if row.unscored else "bold"
