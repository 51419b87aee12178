"""Is one run better than another on the same samples? Paired tests, and what they can find."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key")

LEVEL: Final = 0.05
"""How often a test may see a difference where there is none."""

POWER: Final = 0.8
"""How often a difference that is called detectable is found."""

RESAMPLES: Final = 10_000
FEW: Final = 32
"""Different values that are counted instead of being drawn one by one."""
SEED: Final = 0


def bootstrap_interval(differences: Sequence[float], resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """Where the mean of paired differences lies, with 95 % confidence: 2.5th to 97.5th percentile of resampled means.

    The same input always gives the same interval. Source: Efron and Tibshirani 1993, "An Introduction to the
    Bootstrap".

    Returns:
        None of fewer than two differences.
    """
    if len(differences) < 2:
        return None
    low, high = np.percentile(_resampled_means(np.asarray(differences, dtype=np.float64), resamples), [2.5, 97.5])
    return float(low), float(high)


def mcnemar_exact(worse: int, better: int) -> float:
    """The probability of so uneven a split of the changed samples if both directions were equally likely (two-sided).

    Source: McNemar 1947, in its exact form: a binomial test of ``worse`` out of all that changed, with probability 1/2.

    Args:
        worse: samples that were right and are wrong.
        better: samples that were wrong and are right.
    """
    return min(1.0, 2 * _at_most(min(worse, better), worse + better))


def mcnemar_worse(worse: int, better: int) -> float:
    """The same for one direction: the probability of so many or more ``worse`` among the changed samples."""
    return _at_most(better, worse + better)


def mean_is_negative(differences: Sequence[float]) -> float:
    """The probability of so low a mean if the true one was 0 (one-sided), for values that are not only right or wrong.

    By the central limit theorem; source: Miller 2024, "Adding Error Bars to Evals", on paired differences.
    """
    if len(differences) < 2:
        return 1.0
    mean = float(np.mean(differences))
    stderr = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    if stderr == 0:
        return 0.0 if mean < 0 else 1.0
    return NormalDist().cdf(mean / stderr)


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """p-values of several tests, raised so that all together err at the level of one.

    Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    adjusted: dict[Key, float] = {}
    highest = 0.0
    for rank, key in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[key] * (len(p_values) - rank)))
        adjusted[key] = highest
    return {key: adjusted[key] for key in p_values}


def detectable_drop(differences: Sequence[float], tests: int = 1) -> float | None:
    """The smallest true drop of the mean that a one-sided test finds with a power of 80 %.

    The normal approximation with the variance of these differences: (z of the level + z of the power) standard errors.
    Source: Connor 1987, "Sample Size for Testing Differences in Proportions for the Paired-Sample Design".

    Args:
        differences: of the samples, as they were found.
        tests: over how many data sets the level is divided.

    Returns:
        None of fewer than two differences, or if all are the same.
    """
    if len(differences) < 2:
        return None
    return detectable(float(np.std(differences, ddof=1)) / math.sqrt(len(differences)), tests)


def detectable(stderr: float | None, tests: int = 1) -> float | None:
    """The same from the standard error of the difference; None if it is not known or 0."""
    normal = NormalDist()
    return stderr * (normal.inv_cdf(1 - LEVEL / tests) + normal.inv_cdf(POWER)) if stderr else None


def _resampled_means(values: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    draw, size = np.random.default_rng(SEED), len(values)
    different, counts = np.unique(values, return_counts=True)
    if len(different) <= FEW:
        # How often each value is drawn is multinomial: right and wrong need not be drawn one by one.
        means: NDArray[np.float64] = draw.multinomial(size, counts / size, size=resamples) @ different / size
        return means
    return np.array([values[draw.integers(size, size=size)].mean() for _ in range(resamples)])


def _at_most(successes: int, trials: int) -> float:
    """P(X ≤ successes) of a fair binomial, in whole numbers, so that nothing is rounded before the end."""
    ways = total = 1
    for number in range(1, successes + 1):
        ways = ways * (trials - number + 1) // number
        total += ways
    return total / 2**trials if successes >= 0 else 0.0
