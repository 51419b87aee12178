"""The summary for the eye: a table, and below it why a task has no score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ais_prompt.report.formats import percent
from ais_prompt.report.outcome import Row, TaskOutcome, summary_rows
from ais_prompt.utils.text import printable

_COUNTS = {"scored": "", "unparsed": "yellow", "truncated": "yellow", "failed": "bold red"}
"""The counts of a row, and the style of a count that is not zero."""
_FULL: Mapping[str, str] = {}
_NARROW = {"unparsed": "un-\nparsed", "truncated": "trun-\ncated"}
_SHORTEST_NAME = len("dataset")
"""Names, and the titles of their columns, are folded to no less than this, in cells of the terminal."""


def print_summary(outcomes: Iterable[TaskOutcome], console: Console) -> None:
    """Print the table of scores, and the reasons of tasks without one.

    In a terminal that is too narrow, long names are folded, never numbers. In a file or pipe every row is one line.
    """
    rows = summary_rows(outcomes)
    console.print(_Fitted(rows), crop=False)
    for row in rows:
        if row.note:
            console.print(Text(printable(f"{row.model}/{row.dataset}: {row.note}")), soft_wrap=not console.is_terminal)


class _Fitted:
    """The table in its natural width, or folded if a terminal is narrower than that."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        def width(table: Table) -> int:
            return Measurement.get(console, options.update(width=10_000), table).maximum

        table = _table(self.rows)
        natural = width(table)
        if natural <= options.max_width or not console.is_terminal:
            yield from console.render(table, options.update(width=natural))
        else:
            # Below this width rich would cut numbers; the terminal itself may then break the line.
            least = width(_table(self.rows, _NARROW, longest_name=_SHORTEST_NAME))
            yield from console.render(_table(self.rows, _NARROW), options.update(width=max(options.max_width, least)))


def _table(rows: Sequence[Row], headers: Mapping[str, str] = _FULL, longest_name: int | None = None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("dataset", "model"):
        table.add_column(name, overflow="fold", min_width=_SHORTEST_NAME, max_width=longest_name)
    table.add_column("metric", no_wrap=True)
    for name in ("score", "±", "n", *_COUNTS):
        table.add_column(headers.get(name, name), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Row) -> list[Text]:
    return [
        Text(row.dataset),
        Text(row.model),
        Text(row.metric or ""),
        _score(row),
        Text("" if row.stderr is None else percent(row.stderr).removesuffix(" %")),
        Text("" if row.n is None else str(row.n)),
        *(_count(getattr(row, name), style) for name, style in _COUNTS.items()),
    ]


def _score(row: Row) -> Text:
    if row.score is not None:
        return Text(percent(row.score), style="bold")
    # The note's first words ("error", "not scored"); all of it stands below the table.
    return Text(row.note.partition(":")[0], style="red")


def _count(number: int | None, style: str) -> Text:
    return Text("" if number is None else str(number), style=style if number else "")
