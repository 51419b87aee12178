"""How sure a number is that is no mean over the samples, such as BLEU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 1000
SEED: Final = 0


def bootstrap(
    rows: NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], float], resamples: int = RESAMPLES
) -> tuple[float, tuple[float, float]] | None:
    """Standard error and 95 % interval of a number that is computed from the sums over all samples.

    As many samples as there are are drawn with putting back, again and again, always the same for the same input. The
    standard error is the standard deviation of the numbers so found, the interval goes from the 2.5th to the 97.5th
    percentile. Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap"; for BLEU: Koehn 2004,
    "Statistical Significance Tests for Machine Translation Evaluation".

    Args:
        rows: what each sample adds to the sums; shape (samples, quantities).
        statistic: the number, from the sums; shape (quantities,).
        resamples: how often is drawn.

    Returns:
        The standard error, and the interval's ends; None of fewer than two samples.
    """
    size = len(rows)
    if size < 2:
        return None
    draw = np.random.default_rng(SEED)
    found = [statistic(np.bincount(draw.integers(size, size=size), minlength=size) @ rows) for _ in range(resamples)]
    low, high = np.percentile(found, [2.5, 97.5])
    return float(np.std(found, ddof=1)), (float(low), float(high))


class PairedDifference(NamedTuple):
    """How two sets of answers to the same samples differ in a number that is computed from sums.

    Attributes:
        value: the second less the first.
        stderr, interval: of the difference; None of fewer than two samples.
        p_worse: how likely so low a difference is if the second is no worse (one-sided).
    """

    value: float
    stderr: float | None
    interval: tuple[float, float] | None
    p_worse: float


def paired_difference(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], float],
    resamples: int = RESAMPLES,
) -> PairedDifference:
    """Compare two numbers that are computed from sums over the same samples, by a paired bootstrap.

    Each resample draws the same samples for both. ``p_worse`` is the share of resamples whose difference is 0 or more,
    one added to both counts. Source: Koehn 2004, as in `bootstrap`.

    Args:
        before, after: what each sample adds to the sums; shape (samples, quantities), in the same order of samples.
        statistic: the number, from the sums; shape (quantities,).
        resamples: how often is drawn.
    """
    size = len(before)
    value = statistic(after.sum(axis=0)) - statistic(before.sum(axis=0))
    if size < 2:
        return PairedDifference(value, None, None, 1.0)
    draw = np.random.default_rng(SEED)
    weights = (np.bincount(draw.integers(size, size=size), minlength=size) for _ in range(resamples))
    found = np.array([statistic(weight @ after) - statistic(weight @ before) for weight in weights])
    low, high = np.percentile(found, [2.5, 97.5])
    p_worse = (1 + int((found >= 0).sum())) / (1 + resamples)
    return PairedDifference(value, float(np.std(found, ddof=1)), (float(low), float(high)), p_worse)
