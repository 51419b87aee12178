"""From the scores of single samples to one number, with the counts behind it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from ais_prompt.types import STATUSES, SampleScore, Score


def mean_scores(metrics: Sequence[str], scores: Sequence[SampleScore]) -> list[Score]:
    """The mean of each metric over the samples that were answered, in the order of ``metrics``.

    A failed sample has no part in the value. An unparsed one counts as 0, and a truncated one as it was scored.
    Value and standard error are in the metric's own unit; both need answers (see `Score`).
    """
    counts = {status: sum(score.status == status for score in scores) for status in STATUSES}
    answered = [score for score in scores if score.status != "failed"]
    result = []
    for metric in metrics:
        values = [_value(score, metric) for score in answered]
        # Not `fmean`: its rounding can leave the range of the values.
        mean = statistics.mean(values) if values else None
        result.append(Score(metric, mean, standard_error(values), n=len(scores), counts=counts))
    return result


def standard_error(values: Sequence[float]) -> float | None:
    """Standard error of the mean: the sample's standard deviation (n - 1) over the root of n; None if n < 2.

    Source: Miller 2024, "Adding Error Bars to Evals"; the samples are taken as independent.
    """
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


def _value(score: SampleScore, metric: str) -> float:
    # An answer that could not be parsed may come without values.
    return float(score.values[metric]) if score.values else 0.0
