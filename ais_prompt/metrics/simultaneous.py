"""Intervals and p-values for many differences at once, by resampling questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.paired import LEVEL

SEED: Final = 0
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
