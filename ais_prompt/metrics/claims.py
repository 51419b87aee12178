"""Claims about a true value: confidence limits, and the number of samples that a claim needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

from ais_prompt.metrics.aggregate import exact_mean, spread_of_questions
from ais_prompt.metrics.distributions import beta_quantile, binomial_tail, t_quantile
from ais_prompt.metrics.power import POWER, fewest_samples

_NORMAL: Final = NormalDist()


def low_end(questions: Sequence[tuple[str, float]], confidence: float) -> float | None:
    """Return the lower end of the one-sided interval of a mean of values from 0 to 1; None for fewer than two units.

    For right and wrong it is that of Clopper and Pearson, which is never too high more often than it may be. Other
    values and clusters have it with an effective number of samples, and fewer of them for the doubt in the variance.

    Sources: Clopper and Pearson 1934, "The Use of Confidence or Fiducial Limits"; Korn and Graubard 1998, "Confidence
    Intervals for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data".

    Args:
        questions: the unit of each question, which is the question itself or its cluster, and its value.
        confidence: above 0.5 and below 1.
    """
    mean = exact_mean([value for _, value in questions])
    spread = spread_of_questions(questions, mean)
    if spread is None:
        return None
    n = spread.units
    if spread.freedom is not None and spread.variance > 0:
        wider = t_quantile(confidence, spread.freedom) / _NORMAL.inv_cdf(confidence)
        n = mean * (1 - mean) / spread.variance / wider**2
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


def samples_for_drop(limit: float, changed: float, confidence: float) -> int:
    """Return the number of samples that show in 80 % of all runs that nothing dropped by ``limit``, if nothing did.

    Source: Lu and Bean 1995, "On the Sample Size for One-Sided Equivalence of Sensitivities Based upon McNemar's Test";
    without changes, where Tango's interval ends at ``limit``.

    Args:
        limit: the drop that would matter, above 0.
        changed: the share of samples that change all the same.
        confidence: of the claim.
    """
    z = _NORMAL.inv_cdf(confidence)
    normal = changed * ((z + _NORMAL.inv_cdf(POWER)) / limit) ** 2
    return math.ceil(max(normal, z * z * (1 - limit) / limit))
