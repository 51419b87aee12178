"""Pivot rows: datasets and metrics as lines, models as columns."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ais_prompt.scoring.numbers import bare, value
from ais_prompt.scoring.rows import Row


class Line(Struct, frozen=True):
    """One metric of one dataset.

    Attributes:
        dataset, metric: their names; the metric is None if no model has a score.
        n: answers requested: ``198–200`` if models differ, ``57 of 200`` if not every sample was asked.
        rows: the row of each model, in the order of the columns; None if it has no such metric.
    """

    dataset: str
    metric: str | None
    n: str
    rows: tuple[Row | None, ...]


def models_of(rows: Sequence[Row]) -> list[str]:
    """Return the models, in order."""
    return list(dict.fromkeys(row.model for row in rows))


def pivot(rows: Sequence[Row]) -> list[Line]:
    """Return the lines of the table, in the order of ``rows``; the columns are those of `models_of`."""
    by_key = {(row.dataset, row.metric, row.model): row for row in rows}
    models = models_of(rows)
    lines = []
    for dataset, metric in _keys(rows):
        # A task without scores has one row, which fills every metric.
        found = [by_key.get((dataset, metric, model)) or by_key.get((dataset, None, model)) for model in models]
        lines.append(Line(dataset, metric, _sizes(found), tuple(found)))
    return lines


def cell(row: Row | None) -> str:
    """Format a cell: ``94.5 % ±1.6``, ``*`` if not every answer was scored or requested, or why there is no score."""
    if row is None:
        return "not measured"
    if row.score is None:
        return row.note.partition(":")[0]
    spread = "" if row.stderr is None else f" ±{bare(row.stderr, fraction=row.fraction)}"
    return f"{value(row.score, fraction=row.fraction)}{spread}{'*' if row.unscored or row.of else ''}"


def _keys(rows: Sequence[Row]) -> list[tuple[str, str | None]]:
    """Return dataset and metric of each line; the metric is None only where no model has one."""
    keys = dict.fromkeys((row.dataset, row.metric) for row in rows)
    measured = {dataset for dataset, metric in keys if metric is not None}
    return [(dataset, metric) for dataset, metric in keys if metric is not None or dataset not in measured]


def _sizes(rows: Sequence[Row | None]) -> str:
    known = sorted((row for row in rows if row is not None and row.n is not None), key=lambda row: row.n or 0)
    return "–".join(dict.fromkeys(row.size for row in [*known[:1], *known[-1:]]))
