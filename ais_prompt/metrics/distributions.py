"""Quantiles of the t, gamma and beta distributions. SciPy would add half a second to the start of every run."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_STEPS: Final = 200
"""More terms than either expansion needs for the arguments of intervals."""
_TINY: Final = 1e-300


@lru_cache(1024)  # the percentiles of a load ask for the same two a hundred times
def t_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution.

    Args:
        probability: above 0.5 and below 1.
        freedom: degrees of freedom, above 0; need not be whole.
    """

    def distribution(value: float) -> float:
        return 1 - 0.5 * _incomplete_beta(freedom / (freedom + value * value), freedom / 2, 0.5)

    highest = 2.0
    while distribution(highest) < probability:
        highest *= 2
    return _solve(distribution, probability, highest)


@lru_cache(1024)  # the intervals of small groups all ask for the same few
def gamma_quantile(probability: float, shape: float) -> float:
    """Return the quantile of the gamma distribution with scale 1, half that of chi squared with ``2 * shape``.

    Args:
        probability: above 0 and at most 0.5.
        shape: above 0.
    """
    return _solve(lambda value: _incomplete_gamma(shape, value), probability, max(shape, 1.0))


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the quantile of the beta distribution.

    Args:
        probability: above 0 and below 1.
        a, b: its parameters, above 0.
    """
    return _solve(lambda value: _incomplete_beta(value, a, b), probability, 1.0)


def binomial_tail(successes: int, trials: int, chance: float) -> float:
    """Return the probability of at least this many successes.

    Source: Abramowitz and Stegun 1964, formula 26.5.24.
    """
    if successes <= 0:
        return 1.0
    return _incomplete_beta(chance, successes, trials - successes + 1) if successes <= trials else 0.0


def _solve(function: Callable[[float], float], target: float, highest: float) -> float:
    """Return where an increasing function on 0 to ``highest`` reaches ``target``, by bisection."""
    low, high = 0.0, highest
    while low < (middle := (low + high) / 2) < high:
        if function(middle) < target:
            low = middle
        else:
            high = middle
    return high


def _incomplete_gamma(shape: float, value: float) -> float:
    """Return the regularized lower incomplete gamma function P(shape, value), by its series.

    Source: Abramowitz and Stegun 1964, formula 6.5.29.
    """
    if value <= 0:
        return 0.0
    term = total = 1 / shape
    for step in range(1, _STEPS):
        term *= value / (shape + step)
        total += term
        if term < total * 1e-16:
            break
    return total * math.exp(shape * math.log(value) - value - math.lgamma(shape))


def _incomplete_beta(value: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_value(a, b), by its continued fraction (Lentz's method).

    Source: Abramowitz and Stegun 1964, formulas 26.5.8 and 26.5.2.
    """
    if value <= 0 or value >= 1:
        return float(value >= 1)
    # Rounding must not let both sides of the border be above it, which would never end.
    if value > (a + 1) / (a + b + 2) * (1 + 1e-12):
        return 1 - _incomplete_beta(1 - value, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(value) + b * math.log1p(-value)
    )
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(_STEPS):
        half = step // 2
        if step == 0:
            factor = 1.0
        elif step % 2:
            factor = -(a + half) * (a + b + half) * value / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            factor = half * (b - half) * value / ((a + 2 * half - 1) * (a + 2 * half))
        d = 1 / _nonzero(1 + factor * d)
        c = _nonzero(1 + factor / c)
        fraction *= c * d
        if abs(1 - c * d) < 1e-15:
            break
    return front * (fraction - 1) / a


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
