"""Averages over groups of datasets, and other scores of them: sum, standard deviation, harmonic mean."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from ais_prompt.config import evaluate
from ais_prompt.metrics import Part, group_spread, mean_interval, spread_of_questions, standard_error, stratum_spread
from ais_prompt.scoring.rows import Row, models_of
from ais_prompt.types import AVERAGES, STATUSES, GroupKind, Spread, SummaryEntry, SummaryGroup
from ais_prompt.utils import counted, listed

NAIVE, WEIGHTED = AVERAGES
_NOT_RUN: Final = "no score"
"""Note of a part that is not in the run."""
_NO_WEIGHT: Final = "no average: all its weights are 0"
SMALLEST: Final = 0.01
"""In a harmonic mean, what a fraction that is not above 0 counts as. Source: OpenCompass, ``DefaultSummarizer``."""


QuestionsOf: TypeAlias = Callable[[Row], Sequence[tuple[str, float]]]
"""The name and the value of each question behind a row."""


def with_averages(rows: Sequence[Row], groups: Sequence[SummaryGroup], questions_of: QuestionsOf) -> list[Row]:
    """Return the rows followed by the averages of each group; a group may contain earlier groups.

    Args:
        rows: one for each metric of each task.
        groups: in order; a group may contain earlier groups.
        questions_of: reads the questions behind a row whose score is a mean over questions.
    """
    averages = _Averages(rows, questions_of)
    for group in groups:
        for model in models_of(rows):
            averages.add(group, model)
    return averages.rows


def select(
    rows: Sequence[Row], entries: Sequence[SummaryEntry], groups: Collection[str] = (), *, shows_missing: bool = False
) -> list[Row]:
    """Return the rows of these datasets and groups in this order, of the named metric if any.

    Without entries, return all rows, groups first. An entry without a row is left out, or has a row ``-`` for each
    model.
    """
    if not entries:
        return sorted(rows, key=lambda row: row.dataset not in groups)
    selected = []
    for entry in entries:
        found = [row for row in rows if row.dataset == entry.name and entry.metric in (None, row.metric)]
        if not found and shows_missing:
            found = [Row(entry.name, model, entry.metric, note="-") for model in models_of(rows)]
        selected += found
    return selected


class _Averages:
    """Rows of datasets and of the groups so far, and the parts of each row of a group."""

    def __init__(self, rows: Sequence[Row], questions_of: QuestionsOf) -> None:
        self.rows = list(rows)
        self._questions_of = cache(questions_of)
        self._shares: dict[Row, Mapping[Row, float]] = {}

    def add(self, group: SummaryGroup, model: str) -> None:
        """Add the average of a group, and the weighted one if it has weights; or why there is none."""
        rows = [self._find(entry, model) for entry in group.subsets]
        weighing = self._weighing(group, model)
        given = [row.score or 0.0 for row in weighing]
        if note := _why_none(rows) or _why_none(weighing) or ("" if any(given) or not given else _NO_WEIGHT):
            self.rows += [Row(group.name, model, metric, note=note) for metric in group.metrics]
        elif group.kind != "average" or group.transforms:
            self.rows.append(_combined(group, rows, given or _weights(group, rows)))
        else:
            if group.metric is None:
                self._add(group, NAIVE, rows, [1.0] * len(rows))
            if group.metric is not None or group.weights is not None:
                by_size = isinstance(group.weights, str) and not given
                parts = self._datasets(group, rows) if by_size else rows
                self._add(group, group.metric or WEIGHTED, parts, given or _weights(group, parts))

    def _weighing(self, group: SummaryGroup, model: str) -> list[Row]:
        """Return the scores that are the weights of the parts, if a metric is."""
        if not isinstance(group.weights, str) or not group.weights.startswith("@"):
            return []
        return [self._find(SummaryEntry(entry.name, group.weights[1:]), model) for entry in group.subsets]

    def _find(self, entry: SummaryEntry, model: str) -> Row:
        """Return the score that goes into an average; the main one if no metric is named."""
        rows = [row for row in self.rows if row.model == model and row.dataset == entry.name]
        absent = Row(entry.name, model, note=f"no {entry.metric}" if rows and entry.metric else _NOT_RUN)
        # A task without scores has one row for all metrics.
        return next((row for row in rows if entry.metric is None or row.metric in (entry.metric, None)), absent)

    def _datasets(self, group: SummaryGroup, rows: Sequence[Row]) -> list[Row]:
        """Return the parts of a micro-average: in place of each group its datasets, unless its metric is named."""
        parts: list[Row] = []
        for entry, row in zip(group.subsets, rows, strict=True):
            parts += [row] if entry.metric is not None else self._shares.get(row, {row: 1.0})
        return parts

    def _add(self, group: SummaryGroup, metric: str, rows: Sequence[Row], weights: Sequence[float]) -> None:
        """Add the weighted mean of datasets, each of which is there once."""
        shares: defaultdict[Row, float] = defaultdict(float)
        for row, weight in zip(rows, weights, strict=True):
            for part, share in self._shares.get(row, {row: 1.0}).items():
                shares[part] += share * weight / math.fsum(weights)
        parts = list(shares)
        score = _mean(shares, [row.score for row in parts])
        assert score is not None  # `_why_none` has checked the rows
        spread = _spread(shares, score, self._questions_of)
        interval = None if spread is None else mean_interval(score, spread, 1.0 if parts[0].fraction else None)
        low, high = interval or (None, None)
        average = _row_of(
            group.name,
            metric,
            parts,
            score=score,
            stderr=standard_error(spread, interval),
            ci95_low=low,
            ci95_high=high,
            bound_low=_mean(shares, [row.bound_low for row in parts]),
            bound_high=_mean(shares, [row.bound_high for row in parts]),
            fraction=parts[0].fraction,
        )
        self._shares[average] = shares
        self.rows.append(average)


def _why_none(rows: Sequence[Row]) -> str:
    without = sorted((row for row in rows if row.score is None), key=lambda row: row.note == _NOT_RUN)
    if without:
        names = listed((_with_reason(row) for row in without), 3)
        return f"no average: no score of {len(without)} of {counted(len(rows), 'part')}: {names}"
    if len({row.fraction for row in rows}) > 1:
        return "no average: some of its scores are percentages and others are not"
    return ""


def _with_reason(row: Row) -> str:
    reason = row.note.partition(":")[0]
    return row.dataset if reason == _NOT_RUN else f"{row.dataset} ({reason})"


def _combined(group: SummaryGroup, rows: Sequence[Row], weights: Sequence[float]) -> Row:
    """Return the row of a score that is no mean of its parts, which has no interval."""
    fraction = rows[0].fraction
    values = [_transformed(group, row) for row in rows]
    try:
        score = _value(group.kind, values, weights)
    except (ValueError, ZeroDivisionError) as error:
        return Row(group.name, rows[0].model, group.metrics[0], note=f"no {group.metrics[0]}: {error}")
    return _row_of(group.name, group.metrics[-1], rows, score=score, fraction=fraction or bool(group.transforms))


def _transformed(group: SummaryGroup, row: Row) -> float:
    """Return the score of a part, in its own unit; a transform takes and gives percent."""
    score = row.score or 0.0
    if expression := group.transforms.get(row.dataset):
        return evaluate(expression, 100 * score if row.fraction else score) / 100
    return score if row.fraction or not group.transforms else score / 100


def _value(kind: GroupKind, values: Sequence[float], weights: Sequence[float]) -> float:
    if kind == "standard_deviation":
        return statistics.pstdev(values)
    if kind == "harmonic_mean":
        return statistics.harmonic_mean([value if value > 0 else SMALLEST for value in values])
    total = math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
    return total if kind == "sum" else total / math.fsum(weights)


def _weights(group: SummaryGroup, rows: Sequence[Row]) -> list[float]:
    weights = group.weights
    if weights is None:
        return [1.0] * len(rows)
    if isinstance(weights, str):  # by the number of questions: a mean over all questions
        return [
            row.population or (row.of / row.repeats if row.of else row.questions) or float(row.n or 0) for row in rows
        ]
    keys = [entry.key if entry.key in weights else entry.name for entry in group.subsets]
    return [weights[key] for key in keys]


def _row_of(name: str, metric: str, rows: Sequence[Row], **values: Any) -> Row:
    """Return the row of a group, with the numbers of answers of its parts."""
    counts: dict[str, int] = {status: _total(rows, status) for status in STATUSES}
    values |= counts
    return Row(
        dataset=name,
        model=rows[0].model,
        metric=metric,
        **values,
        n=_total(rows, "n"),
        of=sum(row.of or row.n or 0 for row in rows) if _total(rows, "of") else None,
        questions=_total(rows, "questions"),
        lower_is_better=all(row.lower_is_better for row in rows),
        population=sum(row.population or row.questions or row.n or 0 for row in rows)
        if _total(rows, "population")
        else None,
        unscored=", ".join(f"{counts[status]} {status}" for status in STATUSES[1:] if counts[status]),
    )


def _total(rows: Sequence[Row], count: str) -> int:
    return sum(getattr(row, count) or 0 for row in rows)


def _spread(shares: Mapping[Row, float], average: float, questions_of: QuestionsOf) -> Spread | None:
    """Return the spread of an average; None if that of a part is not known, or not all of it was asked."""
    if any(row.of is not None for row in shares):
        return None
    parts = []
    asked = [(row, share, questions_of(row) if row.questions else ()) for row, share in shares.items()]
    for row, share, questions in asked:
        assert row.score is not None  # `_why_none` has checked the rows
        if row.population is not None:
            spread = _spread_of_drawn(row, questions, row.population, average)
        else:
            spread = spread_of_questions(questions, row.score) if questions else None
            if spread is None and row.stderr is not None:  # a score that is no mean, such as BLEU
                spread = Spread(row.stderr**2, row.n or 1)
        if spread is None:
            return None
        parts.append(Part(share, row.score, spread, questions))
    return group_spread(parts)


def _spread_of_drawn(
    row: Row, questions: Sequence[tuple[str, float]], population: int, average: float
) -> Spread | None:
    """Return the spread of a dataset, a stratum of its group, about all of its questions; None if it is not known."""
    n = len(questions) or row.n or 1
    left = max(1 - n / population, 0.0)
    # The error of equal values is that of their interval; among other datasets it is none.
    varies = len({value for _, value in questions}) != 1 and left and row.stderr is not None
    own = row.stderr**2 * n / left if varies and row.stderr is not None else 0.0
    if row.fraction and 0 <= average <= 1:
        return stratum_spread(own, n, population, average * (1 - average))
    return None if row.stderr is None else Spread(row.stderr**2, n, max(n - 1, 1))


def _mean(shares: Mapping[Row, float], values: Sequence[float | None]) -> float | None:
    """Return the sum of shares of the values; None if a value is not known."""
    parts = [share * value for share, value in zip(shares.values(), values, strict=True) if value is not None]
    return math.fsum(parts) if len(parts) == len(values) else None
