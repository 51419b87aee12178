"""The summary as CSV, JSON and Markdown. CSV and JSON hold full precision, Markdown what a person reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields

from ais_prompt.report.outcome import Row

COLUMNS = tuple(field.name for field in fields(Row))


def percent(fraction: float) -> str:
    """``0.9351`` as ``93.5 %``."""
    return f"{100 * fraction:.1f} %"


def to_csv(rows: Sequence[Row]) -> str:
    """A header and one line for each row; what is not known is empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return stream.getvalue()


def to_json(rows: Sequence[Row]) -> str:
    """A list of objects; what is not known is null."""
    return json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2) + "\n"


def to_markdown(rows: Sequence[Row]) -> str:
    """A table for GitHub; the numbers are aligned to the right."""
    aligned = ["---" if name in ("dataset", "model", "metric", "note") else "---:" for name in COLUMNS]
    lines = [list(COLUMNS), aligned, *([_cell(row, name) for name in COLUMNS] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(row: Row, column: str) -> str:
    value = getattr(row, column)
    if value is None:
        return ""
    if column in ("score", "stderr"):
        return percent(value)
    return " ".join(str(value).replace("|", "\\|").split())
