"""The summary of a run: its scores and speed in a terminal, and as CSV, JSON and Markdown.

CSV and JSON have full precision, tables and Markdown rounded numbers. Notes below a table explain its marks.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from ais_prompt.report.score_notes import NAMED, summary_notes, worst_notes
from ais_prompt.report.score_table import print_matrix, print_score_lines
from ais_prompt.scoring import Row, TaskOutcome, bare, cell, models_of, pivot, span, value
from ais_prompt.store import replacing, write_json_atomic
from ais_prompt.terminal import Column, print_table
from ais_prompt.types import STATUSES, Speed, Times
from ais_prompt.utils import encode, printable

COLUMNS = Row.__struct_fields__
WIDEST: Final = 100_000
"""Columns of a file, whose tables are not fitted to a screen."""
LONG_HEADER = ("dataset", "model", "metric", "score", "stderr", "95 %", "bounds", "n", *STATUSES)
"""Titles of the table with one line for each metric of each task, as `long_cells` fills it."""
_INDENT: Final = 4
"""Of the further lines of a note."""
# https://owasp.org/www-community/attacks/CSV_Injection; East Asian editions also take the wide forms.
_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NEEDS_QUOTES: Final = re.compile(r'[",\r\n]')
_NUMBER: Final = re.compile(r"[+-]?(\d[\d,_]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s?%?", re.ASCII)


def write_summary(folder: Path, rows: Sequence[Row], chosen: Sequence[Row]) -> None:
    """Write ``summary.txt``, ``.csv``, ``.md`` and ``.json``, each whole or not at all. The same file is kept.

    Args:
        folder: where they are written.
        rows: all rows, for CSV and JSON.
        chosen: the rows for text and Markdown.

    Raises:
        StoreError: a file cannot be written.
    """
    values = [row.to_json() for row in rows]
    shown = [{name: printable(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in values]
    texts = {
        "txt": _plain(chosen),
        "csv": csv_lines(COLUMNS, shown),
        "md": to_markdown(chosen),
        "json": encode(values, indent=2).decode(),
    }
    for ending, text in texts.items():
        path = folder / f"summary.{ending}"
        # A lone surrogate has no bytes in UTF-8; JSON reads the escape back as it was.
        content = text.encode("utf-8", "backslashreplace")
        if path.is_file() and path.read_bytes() == content:
            continue
        with replacing(path, json=ending == "json") as stream:
            stream.write(content)


def _plain(rows: Sequence[Row]) -> str:
    """Return everything as text: models side by side, all columns, all notes."""
    stream = io.StringIO()
    # Ignore terminals, notebooks and the settings of the environment for colours: this is a file.
    console = Console(
        file=stream, width=WIDEST, color_system=None, force_terminal=False, force_jupyter=False, _environ={}
    )
    tables = _tables(rows, with_bounds=any(row.unscored for row in rows))
    for number, (texts, titles, lines) in enumerate(tables):
        if number:
            console.print()
        columns = [Column(title, place < texts, place >= texts) for place, title in enumerate(titles)]
        print_table(columns, lines, console)
    said = summary_notes(rows, starred=len(tables) > 1)
    for note in ["", *said] if said else []:
        console.print(Text(printable(note)), soft_wrap=True)
    return stream.getvalue()


def print_summary(
    rows: Sequence[Row], console: Console, groups: Collection[str] = (), outcomes: Sequence[TaskOutcome] = ()
) -> None:
    """Print the scores and the worst notes, in lines that fit into the console.

    One model or one dataset has a line for each score (`print_score_lines`). Else models are side by side
    (`print_matrix`).

    Args:
        rows: of `ais_prompt.scoring.rows.summary_rows`, groups first.
        console: where to.
        groups: names of groups.
        outcomes: of the tasks, which tell a missing gold from a missing answer.
    """
    side_by_side = len(models_of(rows)) > 1 and len({row.dataset for row in rows}) > 1
    if len(rows) > NAMED and all(row.score is None for row in rows):
        console.print("Nothing is scored.")
    elif side_by_side:
        print_matrix(rows, console, groups)
    elif rows:
        print_score_lines(rows, console, groups, outcomes)
    said = worst_notes(rows, groups, starred=side_by_side)
    for note in ["", *said] if said else []:
        if not console.is_terminal:
            console.print(Text(printable(note)), soft_wrap=True)
            continue
        first, *more = Text(printable(note)).wrap(console, max(console.width - _INDENT, 1))
        console.print(first)
        for line in more:
            console.print(Text(" " * _INDENT) + line)


def _tables(rows: Sequence[Row], *, with_bounds: bool = True) -> list[tuple[int, list[str], list[list[str]]]]:
    """Return several models side by side, and a line for each row.

    Each table has the number of columns of texts, which are before those of numbers, its titles and its lines.
    """
    places = [place for place, title in enumerate(LONG_HEADER) if with_bounds or title != "bounds"]
    cells = map(long_cells, rows)
    tables = [(3, [LONG_HEADER[place] for place in places], [[line[place] for place in places] for line in cells])]
    if len(models := models_of(rows)) > 1:
        beside = [[line.dataset, line.metric or "", line.n, *map(cell, line.rows)] for line in pivot(rows)]
        tables.insert(0, (2, ["dataset", "metric", "n", *models], beside))
    return tables


def long_cells(row: Row) -> list[str]:
    """Format a row for people, one text for each of `LONG_HEADER`."""
    counts = [getattr(row, status) for status in STATUSES]
    return [
        row.dataset,
        row.model,
        row.metric or "",
        row.note.partition(":")[0] if row.score is None else value(row.score, fraction=row.fraction),
        "" if row.stderr is None else bare(row.stderr, fraction=row.fraction),
        span(row.ci95_low, row.ci95_high, fraction=row.fraction),
        span(row.bound_low, row.bound_high, fraction=row.fraction),
        row.size,
        *("" if count is None else str(count) for count in counts),
    ]


def to_markdown(rows: Sequence[Row]) -> str:
    """Return tables for GitHub, with several models side by side, and the notes below."""
    pieces, tables = [], _tables(rows)
    for texts, titles, cells in tables:
        aligned = ["---"] * texts + ["---:"] * (len(titles) - texts)
        header, *lines = ([markdown_cell(text) for text in line] for line in (titles, *cells))
        pieces.append("".join(f"| {' | '.join(line)} |\n" for line in (header, aligned, *lines)))
    pieces.append("".join(f"- {markdown_cell(note)}\n" for note in summary_notes(rows, starred=len(tables) > 1)))
    return "\n".join(filter(None, pieces))


def markdown_cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    return " ".join(printable(text).replace("|", "\\|").replace("<", "&lt;").split())


def print_speed(speeds: Mapping[str, Speed], console: Console) -> None:
    """Print one line for each task that was served.

    Args:
        speeds: task → its speed.
        console: where to.
    """
    streamed = any(speed.first_token for speed in speeds.values())
    waited = any(speed.waited for speed in speeds.values())
    titles = ["requests", "requests/s", "tokens out/s", "latency p50 s", "p90", "p99"]
    titles += ["1st token p50 s", "p90", "p99", "a token ms"] if streamed else []
    titles += ["in flight", *(("waited p50 s", "p99") if waited else ())]
    rows = []
    for task, speed in speeds.items():
        row = [task, str(speed.requests)]
        row += map(_number, (speed.requests_per_second, speed.output_tokens_per_second))
        row += _percentiles(speed.latency, "p50", "p90", "p99")
        if streamed:
            row += _percentiles(speed.first_token, "p50", "p90", "p99")
            row.append(f"{1e3 * speed.token.mean:.3g}" if speed.token else "")
        row.append(_number(speed.concurrency))
        if waited:
            row += _percentiles(speed.waited, "p50", "p99")
        rows.append(row)
    print_table([Column("speed", is_name=True, right=False), *map(Column, titles)], rows, console)


def write_speed(folder: Path, speeds: Mapping[str, Speed]) -> None:
    """Write ``speed.json`` and ``speed.csv``; nothing if no task was served.

    Raises:
        StoreError: a file cannot be written.
    """
    if not speeds:
        return
    values = {task: speed.to_json() for task, speed in speeds.items()}
    write_json_atomic(folder / "speed.json", values)
    rows = [{"task": task, **_flat(speed)} for task, speed in values.items()]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with replacing(folder / "speed.csv") as file:
        file.write(csv_lines(columns, rows).encode("utf-8", "backslashreplace"))


def _percentiles(times: Times | None, *names: str) -> list[str]:
    return [_number(getattr(times, name)) if times else "" for name in names]


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """``latency: {p50: …}`` as ``latency_p50: …``."""
    flat: dict[str, Any] = {}
    for name, found in values.items():
        if isinstance(found, Mapping):
            flat |= {f"{name}_{key}": number for key, number in found.items()}
        elif name not in ("latency", "first_token", "token", "waited"):
            flat[name] = found
    return flat


def csv_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, header: bool = True) -> str:
    """Return rows as CSV.

    A text that a spreadsheet would compute (``=1+1``, ``@SUM(A1)``, ``-x``, a tab or line break in front) gets an
    apostrophe in front, which spreadsheets show as text. Numbers, also those in texts, stay as they are.

    Args:
        columns: names of the columns, and keys of the rows.
        rows: None and missing values are empty fields.
        header: whether the names are the first line.
    """
    lines: list[Sequence[Any]] = [columns] if header else []
    lines += [[row.get(name) for name in columns] for row in rows]
    return "".join(f"{','.join(map(_field, line))}\n" for line in lines)


def _field(cell: Any) -> str:
    """Return a field as RFC 4180 has it. Before Python 3.13, csv puts no quotes around a carriage return."""
    text = "" if cell is None else str(cell)
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        text = f"'{text}"
    return '"{}"'.format(text.replace('"', '""')) if _NEEDS_QUOTES.search(text) else text
