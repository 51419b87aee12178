"""Power of paired tests: the detectable drop, and the number of samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ais_prompt.metrics.distributions import binomial_tail
from ais_prompt.metrics.paired import LEVEL

POWER: Final = 0.8
"""Power: how often a detectable drop is found."""
_REACH: Final = 8
"""Standard deviations of the number of changed samples that are summed, on either side."""
_TERMS: Final = 80
"""Maximum number of terms; the power hardly changes between them."""


def mcnemar_power(n: int, worse: float, better: float, level: float = LEVEL) -> float:
    """Return how often the exact one-sided McNemar test finds a drop.

    The number of changed samples is binomial, and so is how many of them became worse. Source: Miettinen 1968, "The
    Matched Pairs Design in the Case of All-or-None Responses", the unconditional power.

    Args:
        n: samples.
        worse, better: probability that a sample becomes worse, and better.
        level: of the test.
    """
    changed = min(worse + better, 1.0)
    if changed <= 0:
        return 0.0
    return over_changes(
        n, changed, lambda number: binomial_tail(_critical(number, level), number, min(worse / changed, 1.0))
    )


def over_changes(n: int, changed: float, power: Callable[[int], float]) -> float:
    """Return the mean power over the number of changed samples, which is binomial.

    Args:
        n: samples.
        changed: how likely a sample changes, above 0.
        power: of a test, by the number of samples that changed.
    """
    spread = _REACH * math.sqrt(n * changed * (1 - changed)) + _REACH
    low, high = max(0, math.floor(n * changed - spread)), min(n, math.ceil(n * changed + spread))
    weights, found = 0.0, 0.0
    for number in range(low, high + 1, max(1, (high - low) // _TERMS)):
        weight = _binomial(number, n, changed)
        weights += weight
        if weight:
            found += weight * power(number)
    return found / weights


def detectable_drop(n: int, changed: float, level: float = LEVEL) -> float | None:
    """Return the smallest drop that the exact one-sided McNemar test finds in 80 %.

    In addition to the samples that change without a drop, half of them for the worse, others become worse.

    Args:
        n: samples.
        changed: the share of samples that change without a drop.
        level: of the test.

    Returns:
        As a share of all samples; None if no drop is found so often.
    """
    return _smallest(lambda drop: mcnemar_power(n, changed / 2 + drop, changed / 2, level) >= POWER, 1 - changed)


def fewest_samples(found: Callable[[int], bool], most: int = 1_000_000) -> int | None:
    """Return the smallest number of samples that is enough; None if ``most`` samples are not.

    Args:
        found: returns whether a number of samples is enough.
        most: the largest number to try.
    """
    high = 1
    while not found(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _smallest(found: Callable[[float], bool], most: float) -> float | None:
    if most <= 0 or not found(most):
        return None
    low, high = 0.0, most
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


@lru_cache(maxsize=10_000)
def _critical(changed: int, level: float) -> int:
    """Return how many of the changed samples must be worse for a significant drop; more than all if none can."""
    low, high = changed // 2, changed + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_tail(middle, changed, 0.5) < level else (middle, high)
    return high


def _binomial(successes: int, trials: int, chance: float) -> float:
    if chance >= 1:
        return float(successes == trials)
    ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(ways + successes * math.log(chance) + (trials - successes) * math.log1p(-chance))
