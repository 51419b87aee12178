"""The score interval of a difference of two shares of the same samples."""

from __future__ import annotations

import math
from typing import Final

from ais_prompt.metrics.interval import Z

_STEPS: Final = 80
"""Halvings of the range from -1 to 1: more than a double can tell apart."""


def tango_interval(worse: float, better: float, n: float, z: float = Z) -> tuple[float, float]:
    """Return the score interval of the difference of two shares of the same samples.

    It says something where nothing changed: with ``n`` samples, changes in fewer than about 4 in ``n`` go unseen.

    Source: Tango 1998, "Equivalence Test and Confidence Interval for the Difference in Proportions for the
    Paired-Sample Design", Statistics in Medicine 17.

    Args:
        worse, better: samples that were right and are wrong, and the other way round; need not be whole.
        n: all samples, at least as many as changed; need not be whole.
        z: standard errors on either side: 1.96 for 95 %.

    Returns:
        From -1 to 1.
    """
    found = (better - worse) / n
    return _end(worse, better, n, z, -1.0, found), _end(worse, better, n, z, 1.0, found)


def _end(worse: float, better: float, n: float, z: float, outside: float, inside: float) -> float:
    """Return where the score statistic reaches ``z``, between an end of the range and the difference as found."""
    for _ in range(_STEPS):
        middle = (outside + inside) / 2
        if _squared_score(worse, better, n, middle) > z * z:
            outside = middle
        else:
            inside = middle
    return inside


def _squared_score(worse: float, better: float, n: float, difference: float) -> float:
    """Return the square of the statistic, with the variance that fits best if the difference is this one."""
    a = 2 * n
    b = -better - worse + (2 * n - better + worse) * difference
    c = -worse * difference * (1 - difference)
    share_worse = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (2 * share_worse + difference * (1 - difference))
    distance = (better - worse - n * difference) ** 2
    if distance == 0:
        return 0.0
    return distance / variance if variance > 0 else math.inf
