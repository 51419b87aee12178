"""Limits for gates: what a score proves of the true value, the samples that it takes, and limits from earlier runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.aggregate import exact_mean, unit_deviations
from ais_prompt.metrics.difference import squared_score
from ais_prompt.metrics.distributions import beta_quantile, binomial_tail, t_quantile
from ais_prompt.metrics.paired import POWER, fewest_samples, over_changes

_NORMAL: Final = NormalDist()


def low_end(questions: Sequence[tuple[str, float]], confidence: float) -> float | None:
    """Return the lower end of the one-sided interval of a mean of values from 0 to 1; None for fewer than two units.

    For right and wrong it is that of Clopper and Pearson, which is never too high more often than it may be. Other
    values and clusters have it with an effective number of samples, and fewer of them for the doubt in the variance:
    Student's t with as many degrees of freedom as there are units that deviate, which is their number divided by the
    kurtosis. It is never below the end for as many right and wrong answers as there are units. Chosen by simulation,
    see ``bench.statistics_claims``.

    Sources: Clopper and Pearson 1934, "The Use of Confidence or Fiducial Limits"; Korn and Graubard 1998, "Confidence
    Intervals for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data".

    Args:
        questions: the unit of each question, which is the question itself or its cluster, and its value.
        confidence: above 0.5 and below 1.
    """
    mean = exact_mean([value for _, value in questions])
    deviations = unit_deviations(questions, mean)
    n = units = float(len(deviations))
    if units < 2:
        return None
    squares = math.fsum(value * value for value in deviations)
    is_binary = units == len(questions) and all(value in (0.0, 1.0) for _, value in questions)
    if squares and not is_binary:
        kurtosis = units * math.fsum((value * value / squares) ** 2 for value in deviations)
        freedom = min(max(units / kurtosis, 1.0), units - 1)
        wider = t_quantile(confidence, freedom) / _NORMAL.inv_cdf(confidence)
        effective = mean * (1 - mean) * (units - 1) / (units * squares)
        n = max(effective / wider**2, min(effective, units))
    right = mean * n
    return beta_quantile(1 - confidence, right, n - right + 1) if right > 0 else 0.0


def fewest_for(limit: float, confidence: float) -> int:
    """Return the number of samples that show a share of at least ``limit`` if all of them are right.

    Args:
        limit: what is claimed, 0 to 1.
        confidence: of the claim, 0.95 for 95 %.
    """
    return math.ceil(round(math.log(1 - confidence) / math.log(limit), 9)) if limit > 0 else 1


def samples_for(limit: float, true: float, confidence: float) -> int | None:
    """Return the number of samples that show a share of at least ``limit`` in 80 % of all runs; None above a million.

    Args:
        limit: what is claimed.
        true: the true share, above ``limit``.
        confidence: of the claim.
    """

    def found(n: int) -> bool:
        low, high = 0, n + 1  # the number of right answers needed
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if binomial_tail(middle, n, limit) <= 1 - confidence else (middle, high)
        return binomial_tail(high, n, true) >= POWER

    return fewest_samples(found)


def samples_for_drop(limit: float, changed: float, confidence: float) -> int | None:
    """Return the number of samples that show in 80 % of all runs that nothing dropped by ``limit``, if nothing did.

    As many samples become better as worse, in the mean; the claim is shown where Tango's interval of the difference
    ends above ``-limit`` (`ais_prompt.metrics.difference.tango_interval`).

    Args:
        limit: the drop that would matter, above 0.
        changed: the share of samples that change all the same.
        confidence: of the claim.

    Returns:
        None above a million.
    """
    z = _NORMAL.inv_cdf(confidence)

    def is_shown(worse: int, better: int, n: int) -> bool:
        return (better - worse) / n > -limit and squared_score(worse, better, n, -limit) >= z * z

    def power(number: int, n: int) -> float:
        """Return how often the claim is shown if so many samples change: in that many cases few become worse."""
        low, high = -1, number + 1  # the most that may become worse
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if is_shown(middle, number - middle, n) else (low, middle)
        return 1 - binomial_tail(low + 1, number, 0.5)

    def found(n: int) -> bool:
        if not changed:
            return is_shown(0, 0, n)
        return over_changes(n, changed, lambda number: power(number, n)) >= POWER

    return fewest_samples(found)


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

    The score of one more run is predicted by the t distribution: it varies by ``deviation`` around the true mean, which
    the earlier runs know only to ``deviation / sqrt(runs)`` (Hahn and Meeker 1991, Statistical Intervals, section 4.7).
    The deviation is known best from the questions, each of which varies by itself: with a few runs they have many
    degrees of freedom (Satterthwaite 1946). Where the scores vary more than their questions explain, something else
    changes between the runs, and the deviation of the scores counts.

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
