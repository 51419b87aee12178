"""Averages over groups of data sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ais_prompt.metrics.interval import normal_interval
from ais_prompt.report.outcome import Row
from ais_prompt.report.pivot import models_of
from ais_prompt.types import AVERAGES, STATUSES, SummaryEntry, SummaryGroup

PLAIN, WEIGHTED = AVERAGES


def with_averages(rows: Sequence[Row], groups: Sequence[SummaryGroup]) -> list[Row]:
    """The rows, and behind them those of each group; a group may have earlier groups among its data sets."""
    result = list(rows)
    for group in groups:
        for model in models_of(rows):
            result += _averages(group, model, [_find(result, entry, model) for entry in group.subsets])
    return result


def select(rows: Sequence[Row], entries: Sequence[SummaryEntry]) -> list[Row]:
    """The rows of these data sets and groups in this order, only of their metric if one is named; all if none is."""
    if not entries:
        return list(rows)
    return [
        row for entry in entries for row in rows if row.dataset == entry.name and entry.metric in (None, row.metric)
    ]


def _is_meant(row: Row, entry: SummaryEntry) -> bool:
    """Whether a row is of this data set and metric; a task without scores has one row for all metrics."""
    return row.dataset == entry.name and (entry.metric is None or row.metric in (entry.metric, None))


def _find(rows: Sequence[Row], entry: SummaryEntry, model: str) -> Row:
    """The score of one data set or group that goes into an average; the main one if no metric is named."""
    found = (row for row in rows if row.model == model and _is_meant(row, entry))
    return next(found, Row(entry.name, model, note=f"no {entry.metric or 'score'}"))


def _averages(group: SummaryGroup, model: str, rows: Sequence[Row]) -> Iterator[Row]:
    """The plain average of a group, then the weighted one if it has weights; or why there is none."""
    if note := _why_none(rows):
        yield Row(group.name, model, PLAIN, note=note)
        return
    yield _average(group, model, rows, PLAIN, [1.0] * len(rows))
    if group.weights is not None:
        yield _average(group, model, rows, WEIGHTED, _weights(group.weights, rows))


def _why_none(rows: Sequence[Row]) -> str:
    without = [f"{row.dataset} ({row.note.partition(':')[0]})" for row in rows if row.score is None]
    if without:
        return f"no average: there is no score of {', '.join(without)}"
    if len({row.fraction for row in rows}) > 1:
        return "no average: some of its scores are percentages and others are not"
    return ""


def _weights(weights: Mapping[str, float] | str, rows: Sequence[Row]) -> list[float]:
    return [float(row.of or row.n or 0) if isinstance(weights, str) else weights[row.dataset] for row in rows]


def _average(group: SummaryGroup, model: str, rows: Sequence[Row], metric: str, weights: Sequence[float]) -> Row:
    """A weighted mean. Its parts are independent, so the squares of their standard errors add up."""
    shares = [weight / sum(weights) for weight in weights]
    fraction = rows[0].fraction
    score = _mean(shares, [row.score for row in rows])
    squares = _mean([share**2 for share in shares], [row.stderr and row.stderr**2 for row in rows])
    stderr = None if squares is None else math.sqrt(squares)
    low, high = None, None
    if score is not None and stderr is not None:
        low, high = normal_interval(score, stderr, 1.0 if fraction else None)
    counts = {status: sum(getattr(row, status) for row in rows) for status in STATUSES}
    return Row(
        dataset=group.name,
        model=model,
        metric=metric,
        score=score,
        stderr=stderr,
        ci95_low=low,
        ci95_high=high,
        bound_low=_mean(shares, [row.bound_low for row in rows]),
        bound_high=_mean(shares, [row.bound_high for row in rows]),
        fraction=fraction,
        n=sum(row.n or 0 for row in rows),
        of=sum(row.of or row.n or 0 for row in rows) if any(row.of for row in rows) else None,
        **counts,
        unscored=", ".join(f"{counts[status]} {status}" for status in STATUSES[1:] if counts[status]),
    )


def _mean(shares: Sequence[float], values: Sequence[float | None]) -> float | None:
    """The sum of shares of the values; None if one is not known."""
    parts = [share * value for share, value in zip(shares, values, strict=True) if value is not None]
    return math.fsum(parts) if len(parts) == len(values) else None
