"""Bootstrap intervals for metrics that are not means over the samples, such as BLEU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.paired import LEVEL, with_zero

RESAMPLES: Final = 1000
SEED: Final = 0
_ROUNDING: Final = 1e-12


def bootstrap_interval(
    rows: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], float],
    clusters: Sequence[str] | None = None,
) -> tuple[float, tuple[float, float]] | None:
    """Return standard error and 95 % interval of a metric that is computed from sums over all samples.

    Each resample draws as many samples with replacement; the seed is fixed. The standard error is the standard
    deviation over the resamples, the interval goes from the 2.5th to the 97.5th percentile.

    Sources: Efron and Tibshirani 1993, "An Introduction to the Bootstrap"; for BLEU: Koehn 2004, "Statistical
    Significance Tests for Machine Translation Evaluation".

    Args:
        rows: contribution of each sample to the sums; shape (samples, quantities).
        statistic: computes the metric from the sums; shape (quantities,).
        clusters: the cluster of each sample, drawn as a whole; None if all are independent.

    Returns:
        The standard error and the ends of the interval; None for fewer than two units, and if all resamples have the
        same value, such as that of perfect answers: then nothing is known of how the metric varies.
    """
    if clusters is not None:
        rows = _by_cluster(rows, clusters)
    size = len(rows)
    if size < 2:
        return None
    draw = np.random.default_rng(SEED)
    found = [statistic(np.bincount(draw.integers(size, size=size), minlength=size) @ rows) for _ in range(RESAMPLES)]
    if np.ptp(found) <= _ROUNDING * np.max(np.abs(found)):
        return None
    low, high = np.percentile(found, [2.5, 97.5])
    return float(np.std(found, ddof=1)), (float(low), float(high))


class SumsDifference(Struct, frozen=True):
    """The difference of two sets of answers to the same samples in a metric computed from sums.

    Attributes:
        value: the second minus the first.
        stderr, interval: of the difference, with 95 % confidence; None of fewer than two units, or if nothing changed.
        p: p-value of the difference (two-sided). It is below 5 % exactly where the interval
            leaves out 0.
        p_worse: p-value of a drop (one-sided).
        units: independent units: samples, or clusters of them.
        found: the differences of the resamples, sorted.
    """

    value: float
    stderr: float | None
    interval: tuple[float, float] | None
    p: float
    p_worse: float
    units: int
    found: tuple[float, ...] = ()

    def low_end(self, confidence: float) -> float | None:
        """Return the lower end of the one-sided interval; None if unknown."""
        return float(np.percentile(self.found, 100 * (1 - confidence))) if self.found else None

    def interval_at(self, level: float) -> tuple[float, float] | None:
        """Return the interval with confidence ``1 - level``, which leaves out 0 only if ``p`` is below ``level``."""
        return _interval(self.found, self.p, level) if self.found else None


def sums_difference(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], float],
    clusters: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
) -> SumsDifference:
    """Compare two metrics that are computed from sums over the same samples.

    The interval is that of a paired bootstrap: each resample draws the same units for both. There are two tests: the
    share of resamples on the other side of 0, and the one that swaps the two answers to a unit at random. The p-value
    is the larger one, and the interval is extended to 0 where it is not below 5 %.

    Sources: Koehn 2004, as in `bootstrap`; Riezler and Maxwell 2005, "On Some Pitfalls in Automatic Evaluation and
    Significance Testing for MT", on swapping.

    Args:
        before, after: contribution of each sample to the sums; shape (samples, quantities), in the same order.
        statistic: computes the metric from the sums; shape (quantities,).
        clusters: the cluster of each sample; None if all are independent.
        resamples: number of resamples.
    """
    if clusters is not None:
        before, after = _by_cluster(before, clusters), _by_cluster(after, clusters)
    size = len(before)
    totals = before.sum(axis=0), after.sum(axis=0)
    value = statistic(totals[1]) - statistic(totals[0])
    if size < 2 or np.array_equal(before, after):
        return SumsDifference(value, None, None, 1.0, 1.0, size)
    draw = np.random.default_rng(SEED)
    weights = (np.bincount(draw.integers(size, size=size), minlength=size) for _ in range(resamples))
    found = np.sort([statistic(weight @ after) - statistic(weight @ before) for weight in weights])
    changes = after - before
    moved = (draw.integers(0, 2, size=size) @ changes for _ in range(resamples))
    swapped = np.array([statistic(totals[1] - some) - statistic(totals[0] + some) for some in moved])
    tolerance = 1e-12 * (abs(value) + 1)
    worse = max(_share(found >= 0), _share(swapped <= value + tolerance))
    better = max(_share(found <= 0), _share(swapped >= value - tolerance))
    p = min(1.0, 2 * min(worse, better))
    interval = _interval(found, p, LEVEL)
    return SumsDifference(value, float(np.std(found, ddof=1)), interval, p, worse, size, tuple(found.tolist()))


def _interval(found: Sequence[float] | NDArray[np.float64], p: float, level: float) -> tuple[float, float] | None:
    low, high = np.percentile(found, [50 * level, 100 - 50 * level])
    return with_zero((float(low), float(high)), p, level)


def _share(hits: NDArray[np.bool_]) -> float:
    """Return the share of hits, with one hit added to both counts."""
    return (1 + int(hits.sum())) / (1 + len(hits))


def _by_cluster(rows: NDArray[np.float64], clusters: Sequence[str]) -> NDArray[np.float64]:
    numbers = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sums = np.zeros((numbers.max() + 1, rows.shape[1]))
    np.add.at(sums, numbers, rows)
    return sums
