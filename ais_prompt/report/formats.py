"""The summary as CSV, JSON and Markdown, and the notes below its tables.

CSV and JSON have full precision, Markdown rounded numbers. Spreadsheets take every field of CSV as data, never as a
formula.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ais_prompt.scoring.numbers import bare, plain, span, value
from ais_prompt.scoring.pivot import cell, models_of, pivot
from ais_prompt.scoring.rows import Row
from ais_prompt.types import STATUSES
from ais_prompt.utils.jsonl import encode
from ais_prompt.utils.text import printable

COLUMNS = Row.__struct_fields__
LONG_HEADER = ("dataset", "model", "metric", "score", "±", "95 %", "bounds", "n", *STATUSES)
"""Titles of the table with one line for each metric of each task, as `long_cells` fills it."""
NOT_ALL_ASKED = "Not every sample was asked, so there is no interval; in brackets the possible final scores:"
LEGEND = "Not every answer was scored{star}; in brackets the score if all others were wrong – were right:"
# https://owasp.org/www-community/attacks/CSV_Injection; East Asian editions also take the wide forms.
_FORMULA: Final = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NEEDS_QUOTES: Final = re.compile(r'[",\r\n]')
_NUMBER: Final = re.compile(r"[+-]?(\d[\d,_]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s?%?", re.ASCII)


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


def to_csv(rows: Sequence[Row]) -> str:
    """Return the rows as CSV with a header; unknown values are empty."""
    shown = (
        {name: printable(cell) if isinstance(cell, str) else cell for name, cell in row.to_json().items()}
        for row in rows
    )
    return csv_lines(COLUMNS, shown)


def to_json(rows: Sequence[Row]) -> str:
    """Return the rows as a JSON list of objects; unknown values are null."""
    return encode([row.to_json() for row in rows], indent=2).decode()


def to_markdown(rows: Sequence[Row]) -> str:
    """Return tables for GitHub, with several models side by side, and the notes below."""
    tables = []
    if len(models := models_of(rows)) > 1:
        lines = [[line.dataset, line.metric or "", line.n, *map(cell, line.rows)] for line in pivot(rows)]
        tables.append(_table(["dataset", "metric", "n", *models], lines, texts=2))
    tables.append(_table(LONG_HEADER, [long_cells(row) for row in rows], texts=3))
    tables.append("".join(f"- {escaped(note)}\n" for note in notes(rows, starred=len(models) > 1)))
    return "\n".join(table for table in tables if table)


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


def escaped(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    return " ".join(printable(text).replace("|", "\\|").replace("<", "&lt;").split())


def notes(rows: Sequence[Row], *, starred: bool) -> list[str]:
    """Return the notes below a table: why there is no score, which answers were not scored, repeated answers.

    Args:
        rows: what the table shows.
        starred: whether the table marks such scores with a star, as models side by side do.
    """
    tasks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        tasks.setdefault((row.model, row.dataset), []).append(row)
    without = [f"{row.model}/{row.dataset}: {row.note}" for row in rows if row.note]
    partly = [f"{model}/{dataset}: {_unscored(of[0])}" for (model, dataset), of in tasks.items() if _is_partly(of[0])]
    asked = [f"{model}/{dataset}: {_asked(of[0])}" for (model, dataset), of in tasks.items() if of[0].of and of[0].n]
    several = {row.dataset: row.repeats for row in rows if row.repeats > 1}
    return [
        *dict.fromkeys(without),
        *([LEGEND.format(star=" (*)" if starred else ""), *partly] if partly else []),
        *([NOT_ALL_ASKED, *asked] if asked else []),
        *(f"{model}/{dataset}: {_refused(of[0])}" for (model, dataset), of in tasks.items() if of[0].refused),
        *(f"{name}: {n} answers to each question; ± is that of the questions" for name, n in several.items()),
        *precision_notes(rows),
    ]


def precision_notes(rows: Iterable[Row]) -> list[str]:
    """Return a line for each task with repeated questions: how many answers the next round half width needs."""
    found = []
    for row in rows:
        if row.half_width is None or row.target_half_width is None:
            continue
        now, target = (_width(width, fraction=row.fraction) for width in (row.half_width, row.target_half_width))
        needed = f"{row.repeats_needed:,} answers to each question" if row.repeats_needed else "more questions"
        found.append(
            f"{row.model}/{row.dataset}: a 95 % interval of ±{target} needs {needed} (now {row.repeats}: ±{now})"
        )
    return found


def text_or_json(value: Any) -> str:
    """Return a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _table(header: Sequence[str], lines: Sequence[Sequence[str]], texts: int) -> str:
    """Return a table; the first columns hold texts, the others numbers, aligned to the right."""
    aligned = ["---"] * texts + ["---:"] * (len(header) - texts)
    rows = [[escaped(text) for text in header], aligned, *([escaped(text) for text in line] for line in lines)]
    return "".join(f"| {' | '.join(line)} |\n" for line in rows)


def _width(width: float, *, fraction: bool) -> str:
    """Format a half width: ``1.6 points`` of a fraction, ``0.05 points`` if it is less than a tenth of a point."""
    if not fraction:
        return plain(width)
    return f"{100 * width:.1f} points" if width >= 0.001 else f"{100 * width:.2g} points"


def _is_partly(row: Row) -> bool:
    return bool(row.unscored) and row.score is not None and not row.of


def _asked(row: Row) -> str:
    bounds = span(row.bound_low, row.bound_high, fraction=row.fraction)
    return row.size + (f"  [{bounds}]" if bounds else "") + (f"; not scored: {row.unscored}" if row.unscored else "")


def _refused(row: Row) -> str:
    return f"{row.refused} of {row.n} answers {'is a refusal' if row.refused == 1 else 'are refusals'}"


def _unscored(row: Row) -> str:
    bounds = span(row.bound_low, row.bound_high, fraction=row.fraction)
    return f"{row.unscored} of {row.n}" + (f"  [{bounds}]" if bounds else "")


def _field(cell: Any) -> str:
    """Return a field as RFC 4180 has it. Before Python 3.13, csv puts no quotes around a carriage return."""
    text = "" if cell is None else str(cell)
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        text = f"'{text}"
    return '"{}"'.format(text.replace('"', '""')) if _NEEDS_QUOTES.search(text) else text
