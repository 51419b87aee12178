"""From the scores of single samples to one number, with what stands behind it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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


def mean_scores(metrics: Sequence[str], scores: Sequence[SampleScore], best: float | None = 1.0) -> list[Score]:
    """The mean of each metric over the samples that were answered, in the order of ``metrics``.

    A failed sample has no part in the value. An unparsed one counts as 0, and a truncated one as it was scored.
    A question that was asked more than once counts as the mean of its answers.

    Args:
        metrics: their names.
        scores: one for each question.
        best: the value of a right answer, a wrong one having 0; None if the metric knows no right and wrong.
    """
    return [
        mean_score(metric, [_estimate(score, metric, best) for score in scores], scores, best) for metric in metrics
    ]


def mean_score(
    metric: str, estimates: Sequence[Estimate], scores: Sequence[SampleScore], best: float | None = 1.0
) -> Score:
    """The mean over questions, which are independent, so the standard error is clustered by question (Miller 2024).

    The interval is Wilson's if every question has 0 or 1, and the normal one otherwise.

    Args:
        metric: its name.
        estimates: one for each of ``scores``.
        scores: one for each question.
        best: as in `mean_scores`.
    """
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    mean = exact_mean(values) if values else None
    stderr = standard_error(values)
    counts = count_statuses(scores)
    return Score(
        metric=metric,
        value=mean,
        stderr=stderr,
        n=sum(counts.values()),
        counts=counts,
        interval=None if mean is None else _interval(values, mean, stderr, best),
        bounds=_bounds(estimates) if best is not None else None,
        repeats=max((len(score.repeats) for score in scores if score.repeats), default=1),
        fraction=best == 1.0,
    )


def count_statuses(scores: Iterable[SampleScore]) -> Mapping[Status, int]:
    """How many answers are in each of the four states."""
    counts = Counter(answer.status for score in scores for answer in (score.repeats or (score,)))
    return {status: counts[status] for status in STATUSES}


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


def _interval(
    values: Sequence[float], mean: float, stderr: float | None, best: float | None
) -> tuple[float, float] | None:
    if best == 1.0 and all(value in (0.0, 1.0) for value in values):
        return wilson_interval(sum(values), len(values))
    return None if stderr is None else normal_interval(mean, stderr, best)


def _bounds(estimates: Sequence[Estimate]) -> tuple[float, float] | None:
    if not estimates:
        return None
    return exact_mean([one.low for one in estimates]), exact_mean([one.high for one in estimates])
