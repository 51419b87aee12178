"""Where the true value lies, with 95 % confidence."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

Z: Final = NormalDist().inv_cdf(0.975)
"""Standard errors on either side that hold 95 % of a normal distribution: 1.96."""


def wilson_interval(right: float, n: int) -> tuple[float, float]:
    """The score interval of a share of ``n`` samples, each of which is right or wrong.

    It stays within 0 and 1, and says something of few samples too, even if all of them are right. Source: Wilson 1927,
    "Probable Inference, the Law of Succession, and Statistical Inference"; recommended by Brown, Cai and DasGupta 2001,
    "Interval Estimation for a Binomial Proportion".
    """
    share = right / n
    centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    # The ends of the interval touch 0 and 1 exactly there; rounding may miss them.
    return (0.0 if right == 0 else centre - half), (1.0 if right == n else centre + half)


def normal_interval(mean: float, stderr: float, best: float | None) -> tuple[float, float]:
    """The mean plus and minus 1.96 standard errors, cut to 0 and ``best``, if there is a best value.

    Source: Miller 2024, "Adding Error Bars to Evals", which rests on the central limit theorem.
    """
    low, high = mean - Z * stderr, mean + Z * stderr
    return (low, high) if best is None else (max(low, 0.0), min(high, best))
