"""Exact tests of right and wrong answers to the same questions, and Holm's correction for several tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key")

LEVEL: Final = 0.05
"""Significance level: how often a test may find a difference where there is none."""

POWER: Final = 0.8
"""Power: how often a detectable difference is found."""


def mcnemar_worse(worse: int, better: int) -> float:
    """Return the probability of at least ``worse`` among the changed samples if both directions are equally likely.

    Source: McNemar 1947, in its exact form: a binomial test of ``worse`` out of all that changed, with probability 1/2.

    Args:
        worse: samples that were right and are wrong.
        better: samples that were wrong and are right.
    """
    return _at_most(better, worse + better)


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """Correct the p-values of several tests, so that all together err at the level of one.

    Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    adjusted: dict[Key, float] = {}
    highest = 0.0
    for rank, key in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[key] * (len(p_values) - rank)))
        adjusted[key] = highest
    return {key: adjusted[key] for key in p_values}


def _at_most(successes: int, trials: int) -> float:
    """Return P(X ≤ successes) of a fair binomial, in whole numbers, so that only the result is rounded."""
    ways = total = 1
    for number in range(1, successes + 1):
        ways = ways * (trials - number + 1) // number
        total += ways
    return total / 2**trials if successes >= 0 else 0.0


def matched_worse(before: Sequence[int], after: Sequence[int], runs: int) -> float:
    """Return the probability of so few right answers if the new run is like the earlier ones.

    For each question the number of right answers over all runs, the new one included, is given. If the new run is like
    the others, each run is equally likely to be the new one, so its number of right answers is a sum of binomials. With
    one earlier run this is McNemar's exact test.

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
