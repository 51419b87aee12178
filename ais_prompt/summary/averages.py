"""Averages over groups of datasets."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from ais_prompt.metrics.aggregate import spread_of_questions
from ais_prompt.metrics.interval import Part, Z, group_spread, mean_interval
from ais_prompt.summary.pivot import models_of
from ais_prompt.summary.rows import Row
from ais_prompt.types import AVERAGES, STATUSES, Spread, SummaryEntry, SummaryGroup
from ais_prompt.utils.text import listed

NAIVE, WEIGHTED = AVERAGES


QuestionsOf: TypeAlias = Callable[[Row], Sequence[tuple[str, float]]]
"""The name and the value of each question behind a row."""


def with_averages(rows: Sequence[Row], groups: Sequence[SummaryGroup], questions_of: QuestionsOf) -> list[Row]:
    """Return the rows followed by the averages of each group; a group may contain earlier groups.

    Args:
        rows: one for each metric of each task.
        groups: in order; a group may contain earlier ones.
        questions_of: reads the questions behind a row whose score is a mean over questions.
    """
    averages = _Averages(rows, questions_of)
    for group in groups:
        for model in models_of(rows):
            averages.add(group, model)
    return averages.rows


def select(rows: Sequence[Row], entries: Sequence[SummaryEntry]) -> list[Row]:
    """Return the rows of these datasets and groups in this order, of the named metric if any; without entries, all."""
    if not entries:
        return list(rows)
    return [
        row for entry in entries for row in rows if row.dataset == entry.name and entry.metric in (None, row.metric)
    ]


def _is_meant(row: Row, entry: SummaryEntry) -> bool:
    """Return whether a row is of this dataset and metric; a task without scores has one row for all metrics."""
    return row.dataset == entry.name and (entry.metric is None or row.metric in (entry.metric, None))


class _Averages:
    """Rows of datasets and of the groups so far, and the parts of each row of a group."""

    def __init__(self, rows: Sequence[Row], questions_of: QuestionsOf) -> None:
        self.rows = list(rows)
        self._questions_of = cache(questions_of)
        self._shares: dict[Row, Mapping[Row, float]] = {}

    def add(self, group: SummaryGroup, model: str) -> None:
        """Add the average of a group, and the weighted one if it has weights; or why there is none."""
        rows = [self._find(entry, model) for entry in group.subsets]
        if note := _why_none(rows):
            self.rows.append(Row(group.name, model, NAIVE, note=note))
            return
        self._add(group, NAIVE, rows, [1.0] * len(rows))
        if group.weights is not None:
            self._add(group, WEIGHTED, rows, _weights(group.weights, rows))

    def _find(self, entry: SummaryEntry, model: str) -> Row:
        """Return the score that goes into an average; the main one if no metric is named."""
        found = (row for row in self.rows if row.model == model and _is_meant(row, entry))
        return next(found, Row(entry.name, model, note=f"no {entry.metric or 'score'}"))

    def _add(self, group: SummaryGroup, metric: str, rows: Sequence[Row], weights: Sequence[float]) -> None:
        shares: defaultdict[Row, float] = defaultdict(float)
        for row, weight in zip(rows, weights, strict=True):
            for part, share in self._shares.get(row, {row: 1.0}).items():
                shares[part] += share * weight / sum(weights)
        average = _average(group.name, metric, shares, self._questions_of)
        self._shares[average] = shares
        self.rows.append(average)


def _why_none(rows: Sequence[Row]) -> str:
    without = [f"{row.dataset} ({row.note.partition(':')[0]})" for row in rows if row.score is None]
    if without:
        return f"no average: there is no score of {listed(without)}"
    if len({row.fraction for row in rows}) > 1:
        return "no average: some of its scores are percentages and others are not"
    return ""


def _weights(weights: Mapping[str, float] | str, rows: Sequence[Row]) -> list[float]:
    if isinstance(weights, str):  # by the number of questions: a mean over all questions
        return [(row.of / row.repeats if row.of else row.questions) or float(row.n or 0) for row in rows]
    return [weights[row.dataset] for row in rows]


def _average(name: str, metric: str, shares: Mapping[Row, float], questions_of: QuestionsOf) -> Row:
    """Return the weighted mean of datasets, each of which is there once."""
    rows = list(shares)
    fraction = rows[0].fraction
    score = _mean(shares, [row.score for row in rows])
    assert score is not None  # `_why_none` has checked the rows
    spread = _spread(shares, questions_of)
    low, high = (None, None) if spread is None else mean_interval(score, spread, 1.0 if fraction else None)
    stderr = None if spread is None or low is None or high is None else spread.stderr or (high - low) / (2 * Z)
    counts = {status: sum(getattr(row, status) for row in rows) for status in STATUSES}
    return Row(
        dataset=name,
        model=rows[0].model,
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
        questions=sum(row.questions or 0 for row in rows),
        unscored=", ".join(f"{counts[status]} {status}" for status in STATUSES[1:] if counts[status]),
    )


def _spread(shares: Mapping[Row, float], questions_of: QuestionsOf) -> Spread | None:
    """Return the spread of an average; None if that of a part is not known, or not all of it was asked."""
    if any(row.of is not None for row in shares):
        return None
    parts = []
    for row, share in shares.items():
        questions = questions_of(row) if row.questions else ()
        spread = spread_of_questions(questions, row.score or 0.0) if questions else None
        if spread is None and row.stderr is not None:  # a score that is no mean, such as BLEU
            spread = Spread(row.stderr**2, row.n or 1)
        if spread is None or row.score is None:
            return None
        parts.append(Part(share, row.score, spread, questions))
    return group_spread(parts)


def _mean(shares: Mapping[Row, float], values: Sequence[float | None]) -> float | None:
    """Return the sum of shares of the values; None if one is not known."""
    parts = [share * value for share, value in zip(shares.values(), values, strict=True) if value is not None]
    return math.fsum(parts) if len(parts) == len(values) else None
