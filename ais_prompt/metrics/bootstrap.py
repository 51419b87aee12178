"""Intervals and p-values by resampling: of metrics that are no means, such as BLEU, and of many differences at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.difference import LEVEL, with_zero

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


SIGNS: Final = 9_999
FEWEST_SIGNS: Final = 999
"""Random assignments of signs, the first unless questions are many."""
_MOST_SIGNS: Final = 200_000_000
"""Signs that are drawn in all: about a second."""
_CELLS: Final = 4_000_000
"""Numbers that are in memory at once."""


class Simultaneous(Struct, frozen=True):
    """Differences with intervals that all hold together with 95 % confidence.

    Attributes:
        intervals: of each difference; None where it does not vary, so that nothing is known of its error.
        p_values: of each difference, corrected for all (step-down). One is below 5 % if its interval leaves out 0.
        critical: how many standard errors an interval reaches to either side.
    """

    intervals: tuple[tuple[float, float] | None, ...]
    p_values: tuple[float, ...]
    critical: float


def critical_of(statistics: NDArray[np.float64], level: float = LEVEL) -> float:
    """Return the value that the largest of several statistics exceeds in a share of ``level`` of the draws.

    Args:
        statistics: absolute studentized deviations; shape (draws, comparisons).
        level: 1 - confidence.
    """
    largest = np.sort(statistics.max(axis=1))
    # The observed value counts as a draw (Phipson and Smyth 2010), as in the p-values.
    place = int((1 - level) * (len(largest) + 1) + 1e-9)
    return float(largest[min(place, len(largest) - 1)])


def max_t(comparisons: Sequence[Sequence[tuple[str, float]]]) -> Simultaneous:
    """Return intervals of several mean differences that hold together, and p-values that agree with them.

    Studentized max-T: the largest of all absolute t statistics is compared with its distribution where the sum of
    each question, less its mean, gets a random sign, the same in all comparisons that have the question; each draw is
    divided by its own standard error. So comparisons that vary together cost little, other than with Holm's or
    Bonferroni's correction, which assume the worst. The p-values are step-down: after the largest statistic has been
    judged, the next is compared with the largest of the rest.

    Sources: Westfall and Young 1993, "Resampling-Based Multiple Testing", algorithm 2.8; Romano and Wolf 2005,
    "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing"; for random signs Liu 1988, "Bootstrap
    Procedures under some Non-I.I.D. Models". `evalstats` (statsforevals.com) has such intervals for models on one
    benchmark.

    Args:
        comparisons: of each comparison, question (or cluster of questions) and difference of each sample.
    """
    names = sorted({name for one in comparisons for name, _ in one})
    number = {name: place for place, name in enumerate(names)}
    residuals = np.zeros((len(names), len(comparisons)))
    sums, units, sizes = np.zeros(len(comparisons)), np.ones(len(comparisons)), np.ones(len(comparisons))
    for place, one in enumerate(comparisons):
        rows = np.array([number[name] for name, _ in one])
        values = np.array([value for _, value in one])
        np.add.at(residuals[:, place], rows, values - values.mean())
        sums[place], units[place], sizes[place] = values.sum(), len(set(rows.tolist())), len(one)
    squares = (residuals**2).sum(axis=0)
    varies = (squares > 1e-18 * np.maximum(1.0, sums**2)) & (units > 1)
    errors = np.sqrt(np.where(varies, squares * units / np.maximum(units - 1, 1), 1.0))
    observed = np.where(varies, np.abs(sums) / errors, 0.0)
    drawn = _drawn(residuals[:, varies], squares[varies], units[varies])
    critical = critical_of(drawn) if varies.any() else float("nan")
    means, halves = sums / sizes, critical * errors / sizes
    intervals = [
        (float(mean - half), float(mean + half)) if known else None
        for mean, half, known in zip(means, halves, varies, strict=True)
    ]
    p_values = np.ones(len(comparisons))
    p_values[varies] = _step_down(observed[varies], drawn)
    return Simultaneous(tuple(intervals), tuple(p_values.tolist()), critical)


def _drawn(
    residuals: NDArray[np.float64], squares: NDArray[np.float64], units: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return absolute t statistics under random signs; shape (draws, comparisons)."""
    draw = np.random.default_rng(SEED)
    found = []
    step = max(1, _CELLS // len(residuals))
    draws = min(SIGNS, max(FEWEST_SIGNS, _MOST_SIGNS // len(residuals)))
    for start in range(0, draws, step):
        signs = draw.integers(0, 2, size=(min(step, draws - start), len(residuals)), dtype=np.int8) * 2.0 - 1
        total = signs @ residuals
        variance = (squares - total**2 / units) * units / np.maximum(units - 1, 1)
        found.append(np.abs(total) / np.sqrt(np.maximum(variance, 1e-12 * squares)))
    return np.concatenate(found)


def _step_down(observed: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    adjusted = np.ones(len(observed))
    order = np.argsort(-observed, kind="stable")
    highest = 0.0
    for rank, place in enumerate(order):
        exceed = int((drawn[:, order[rank:]].max(axis=1) >= observed[place] * (1 - 1e-12)).sum())
        highest = max(highest, (1 + exceed) / (1 + len(drawn)))
        adjusted[place] = highest
    return adjusted
