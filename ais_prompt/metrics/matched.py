"""Is one run worse than several earlier ones on the same questions? An exact test of right and wrong answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def matched_worse(before: Sequence[int], after: Sequence[int], runs: int) -> float:
    """Return how likely so few right answers are if the new run is like the earlier ones.

    Of each question it is known how many of all runs are right, the new one included. If the new run is no other, each
    of the runs is equally likely to be the new one, so its number of right answers is a sum of binomials. With one
    earlier run this is McNemar's exact test.

    Source: Mantel and Haenszel 1959, "Statistical Aspects of the Analysis of Data from Retrospective Studies of
    Disease", for matched sets, with the exact distribution.

    Args:
        before: right answers to each question in the earlier runs, 0 to ``runs``.
        after: 1 or 0 for each question: whether the new run is right.
        runs: earlier runs.
    """
    right = Counter(old + new for old, new in zip(before, after, strict=True))
    distribution = np.ones(1)
    for number in range(1, runs + 1):
        distribution = np.convolve(distribution, _binomial(right[number], number / (runs + 1)))
    # Where all runs are right, the new one is.
    observed = sum(after) - right[runs + 1]
    return min(1.0, float(distribution[: observed + 1].sum()))


def _binomial(trials: int, chance: float) -> NDArray[np.float64]:
    factorials = np.array([math.lgamma(number + 1) for number in range(trials + 1)])
    successes = np.arange(trials + 1)
    logarithms = factorials[-1] - factorials - factorials[::-1]
    found: NDArray[np.float64] = np.exp(
        logarithms + successes * math.log(chance) + (trials - successes) * math.log1p(-chance)
    )
    return found
