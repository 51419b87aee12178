"""A threshold for the score of later runs, from runs of a model that has not changed.

The score of one more run is predicted by the t distribution: it varies by ``deviation`` around the true mean, which the
earlier runs know only to ``deviation / sqrt(runs)`` (Hahn and Meeker 1991, Statistical Intervals, section 4.7). The
deviation is known best from the questions, each of which varies by itself: with a few runs they have many degrees of
freedom (Satterthwaite 1946). Where the scores vary more than their questions explain, something else changes between
the runs, and the deviation of the scores counts.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.distributions import beta_quantile, t_quantile
from ais_prompt.metrics.paired import POWER

POOLING: Final = 0.25
"""Level of the test that decides which variance counts: high, since a missed cause raises alarms (Bancroft 1964)."""


ENOUGH_RUNS: Final = 5
"""Fewer runs rarely show what moves all scores of a run."""


class Threshold(Struct, frozen=True):
    """A limit for the score of later runs.

    Attributes:
        mean: of the scores.
        deviation: standard deviation of one score from run to run; 0 if all answers are equal.
        limit: later runs of the same model are below it with probability ``level``; above it where less is better.
        drop: the drop of the true score that is below the limit in 80 % of runs; where less is better, the rise.
        varies_beyond: whether the scores vary more than their questions explain.
        level: how often a run of the same model is beyond the limit.
    """

    mean: float
    deviation: float
    limit: float
    drop: float
    varies_beyond: bool
    level: float


def threshold(values: NDArray[np.float64], level: float, *, lower_is_better: bool = False) -> Threshold:
    """Return the threshold for a level of false alarms.

    Args:
        values: of each question (rows) in each run (columns, at least two).
        level: how often a run of the same model may be beyond the limit, above 0 and below 0.5.
        lower_is_better: the limit is an upper one.
    """
    questions, runs = values.shape
    scores = values.mean(axis=0)
    mean = float(scores.mean())
    variances = values.var(axis=1, ddof=1)
    of_questions = float(variances.sum()) / questions**2
    of_runs = float(scores.var(ddof=1))
    if of_questions == 0:
        return Threshold(mean, 0.0, mean, 0.0, False, level)
    freedom = (runs - 1) * float(variances.sum()) ** 2 / float((variances**2).sum())
    varies_beyond = of_runs > of_questions * _f_quantile(1 - POOLING, runs - 1, freedom)
    if varies_beyond:
        of_questions, freedom = of_runs, runs - 1
    deviation = math.sqrt(of_questions)
    predicted = deviation * math.sqrt(1 + 1 / runs)
    away = t_quantile(1 - level, freedom) * predicted
    limit = mean + away if lower_is_better else mean - away
    return Threshold(mean, deviation, limit, away + t_quantile(POWER, freedom) * predicted, varies_beyond, level)


def level_with_run_effect(level: float, ratio: float = 1.0) -> float:
    """Return how often a run is beyond the limit if whole runs vary as well, and the earlier runs do not show it.

    Few runs rarely show it: an effect as large as the noise is taken for noise in most sets of two to four runs.

    Args:
        level: as it was asked for.
        ratio: standard deviation of the effect on whole runs, divided by that of a score from the noise of its answers.
    """
    normal = NormalDist()
    return normal.cdf(normal.inv_cdf(level) / math.sqrt(1 + ratio * ratio))


def _f_quantile(probability: float, upper: float, lower: float) -> float:
    """Return the quantile of the F distribution (Abramowitz and Stegun 1964, formula 26.6.2)."""
    share = beta_quantile(probability, upper / 2, lower / 2)
    return lower * share / (upper * (1 - share))
