"""From the scores of single samples to one number, with what stands behind it."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ais_prompt.metrics.interval import normal_interval, wilson_interval
from ais_prompt.types import STATUSES, SampleScore, Score, Status


class Estimate(NamedTuple):
    """What is known of the value of one question.

    Attributes:
        value: None if nothing was answered.
        low: the value if every answer that failed or could not be read was wrong.
        high: the value if all of these were right.
    """

    value: float | None
    low: float
    high: float


class AnswerCounts:
    """Counts answers as their questions pass.

    Attributes:
        repeats: the most answers to one question.
    """

    def __init__(self, scores: Iterable[SampleScore] = ()) -> None:
        self.repeats = 1
        self._counts: Counter[Status] = Counter()
        for score in scores:
            self.add(score)

    def add(self, score: SampleScore) -> None:
        """Count the answers to one question."""
        if score.repeats:
            self.repeats = max(self.repeats, len(score.repeats))
            self._counts.update(answer.status for answer in score.repeats)
        else:
            self._counts[score.status] += 1

    @property
    def statuses(self) -> Mapping[Status, int]:
        """How many answers are in each of the four states."""
        return {status: self._counts[status] for status in STATUSES}

    @property
    def n(self) -> int:
        """How many there are."""
        return self._counts.total()


def mean_scores(metrics: Sequence[str], scores: Iterable[SampleScore], best: float | None = 1.0) -> list[Score]:
    """The mean of each metric over the samples that were answered, in the order of ``metrics``.

    A failed sample has no part in the value. An unparsed one counts as 0, and a truncated one as it was scored.
    A question that was asked more than once counts as the mean of its answers.

    Args:
        metrics: their names.
        scores: one for each question.
        best: the value of a right answer, a wrong one having 0; None if the metric knows no right and wrong.
    """
    return estimated_means(metrics, lambda score: [_estimate(score, metric, best) for metric in metrics], scores, best)


def estimated_means(
    metrics: Sequence[str],
    estimates_of: Callable[[SampleScore], Sequence[Estimate]],
    scores: Iterable[SampleScore],
    best: float | None = 1.0,
) -> list[Score]:
    """The mean over questions, which are independent, so the standard error is clustered by question (Miller 2024).

    The interval is Wilson's if every question has 0 or 1, and the normal one otherwise. The questions are gone through
    once, and a few numbers are kept of each.

    Args:
        metrics: their names.
        estimates_of: one estimate of a question for each of ``metrics``.
        scores: one for each question.
        best: as in `mean_scores`.
    """
    counts = AnswerCounts()
    columns = [_Column() for _ in metrics]
    for score in scores:
        counts.add(score)
        for column, estimate in zip(columns, estimates_of(score), strict=True):
            column.add(estimate)
    return [_mean(metric, column, counts, best) for metric, column in zip(metrics, columns, strict=True)]


def standard_error(values: Sequence[float]) -> float | None:
    """Standard error of the mean: the sample's standard deviation (n - 1) over the root of n; None if n < 2.

    Source: Miller 2024, "Adding Error Bars to Evals"; the values are taken as independent.
    """
    if len(values) < 2:
        return None
    mean = exact_mean(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values))


def exact_mean(values: Sequence[float]) -> float:
    """The mean, summed without rounding errors; the rounding of the division does not leave the range of the values."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


def _estimate(score: SampleScore, metric: str, best: float | None) -> Estimate:
    if score.repeats:
        each = [_estimate(answer, metric, best) for answer in score.repeats]
        value = exact_mean(known) if (known := [one.value for one in each if one.value is not None]) else None
        return Estimate(value, exact_mean([one.low for one in each]), exact_mean([one.high for one in each]))
    if score.status == "failed":
        return Estimate(None, 0.0, best or 0.0)
    # An answer that could not be parsed may come without values.
    value = float(score.values[metric]) if score.values else 0.0
    return Estimate(value, value, value if score.is_read else max(value, best or 0.0))


class _Column:
    """The estimates of all questions: ``values`` of those that were answered, ``lows`` and ``highs`` of all."""

    def __init__(self) -> None:
        self.values, self.lows, self.highs = array("d"), array("d"), array("d")

    def add(self, estimate: Estimate) -> None:
        if estimate.value is not None:
            self.values.append(estimate.value)
        self.lows.append(estimate.low)
        self.highs.append(estimate.high)


def _mean(metric: str, column: _Column, counts: AnswerCounts, best: float | None) -> Score:
    mean = exact_mean(column.values) if column.values else None
    stderr = standard_error(column.values)
    return Score(
        metric=metric,
        value=mean,
        stderr=stderr,
        n=counts.n,
        counts=counts.statuses,
        interval=None if mean is None else _interval(column.values, mean, stderr, best),
        bounds=(exact_mean(column.lows), exact_mean(column.highs)) if column.lows and best is not None else None,
        repeats=counts.repeats,
        fraction=best == 1.0,
        is_mean=best == 1.0,
    )


def _interval(
    values: Sequence[float], mean: float, stderr: float | None, best: float | None
) -> tuple[float, float] | None:
    if best == 1.0 and all(value in (0.0, 1.0) for value in values):
        return wilson_interval(sum(values), len(values))
    return None if stderr is None else normal_interval(mean, stderr, best)
