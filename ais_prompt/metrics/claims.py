"""Claims about a true value: confidence limits, and the number of samples that a claim needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

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
