"""Print the summary of a run, and write it to files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ais_prompt.report.formats import LONG_HEADER, long_cells, notes, to_csv, to_json, to_markdown
from ais_prompt.report.language import term
from ais_prompt.scoring.pivot import cell, models_of, pivot
from ais_prompt.scoring.rows import Row
from ais_prompt.store.disk import replacing
from ais_prompt.utils.tables import Cell, Column, fits, print_table
from ais_prompt.utils.text import printable


def write_summary(folder: Path, rows: Sequence[Row], chosen: Sequence[Row]) -> None:
    """Write ``summary.txt``, ``.csv``, ``.md`` and ``.json``, each whole or not at all.

    Args:
        folder: where they are written.
        rows: all rows, for CSV and JSON.
        chosen: the rows for text and Markdown.

    Raises:
        StoreError: a file cannot be written.
    """
    texts = {"txt": _plain(chosen), "csv": to_csv(rows), "md": to_markdown(chosen), "json": to_json(rows)}
    for ending, text in texts.items():
        with replacing(folder / f"summary.{ending}", json=ending == "json") as stream:
            # A lone surrogate has no bytes in UTF-8; JSON reads the escape back as it was.
            stream.write(text.encode("utf-8", "backslashreplace"))


def _plain(rows: Sequence[Row]) -> str:
    stream = io.StringIO()
    # Ignore terminals, notebooks and the settings of the environment for colours: this is a file.
    console = Console(file=stream, color_system=None, force_terminal=False, force_jupyter=False, _environ={})
    print_summary(rows, console, full=True)
    return stream.getvalue()


_COUNTS = {"unparsed": "yellow", "truncated": "yellow", "failed": "bold red"}
"""The style of a count that is not zero."""


def print_summary(rows: Sequence[Row], console: Console, *, full: bool = False) -> None:
    """Print the scores and the notes.

    Models are side by side, with score and standard error. A single model has all columns, unless the terminal is too
    narrow. In a file or pipe every row is one line.

    Args:
        rows: of `ais_prompt.scoring.rows.summary_rows`.
        console: where to.
        full: whether several models are also listed with all columns.
    """
    models = models_of(rows)
    columns, lines = _long(rows, console)
    side_by_side = len(models) > 1 or not fits(columns, lines, console)
    if side_by_side:
        _print_side_by_side(rows, models, console)
    if full or not side_by_side:
        if side_by_side:
            console.print()
        print_table(columns, lines, console)
    said = notes(rows, starred=side_by_side)
    for note in ["", *said] if said else []:
        console.print(Text(printable(note)), soft_wrap=not console.is_terminal)


def _print_side_by_side(rows: Sequence[Row], models: Sequence[str], console: Console) -> None:
    """Print datasets as lines, models as columns."""
    columns = [
        Column(_heading("dataset", console), is_name=True, right=False),
        Column(_heading("metric", console), is_name=True, right=False),
        Column(_heading("n", console)),
        *map(Column, models),
    ]
    lines: list[list[Cell]] = [
        [line.dataset, line.metric or "", line.n, *(Text(cell(row), _cell_style(row)) for row in line.rows)]
        for line in pivot(rows)
    ]
    print_table(columns, lines, console)


def _heading(name: str, console: Console) -> str:
    """Return a heading in the reader's language; files and pipes, which programs read, have English ones."""
    return term(name) if console.is_terminal else name


def _long(rows: Sequence[Row], console: Console) -> tuple[list[Column], list[list[Cell]]]:
    """Return columns and lines of the table with one line for each metric of each task."""
    without = {"bounds"} if not any(row.unscored for row in rows) else set()
    names = [name for name in LONG_HEADER if name not in without]
    texts = ("dataset", "model", "metric")
    lines: list[list[Cell]] = []
    for row in rows:
        cells = dict(zip(LONG_HEADER, long_cells(row), strict=True))
        lines.append([Text(cells[name], _style(name, row)) for name in names])
    return [Column(_heading(name, console), name in texts, name not in texts) for name in names], lines


def _style(column: str, row: Row) -> str:
    if column == "score":
        return "red" if row.score is None else "bold"
    return _COUNTS[column] if column in _COUNTS and getattr(row, column) else ""


def _cell_style(row: Row | None) -> str:
    if row is None or row.score is None:
        return "red"
    return "bold red" if row.failed else "bold yellow" if row.unscored else "bold"
