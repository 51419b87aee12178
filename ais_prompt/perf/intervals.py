"""95 % intervals of the numbers of a load, each from what varies: requests, or blocks of time.

- A percentile has order statistics as its ends, whose ranks follow from the binomial distribution (source: Conover,
  "Practical Nonparametric Statistics", 3.2). Where no value is extreme enough to be an end, the end is infinite.
- A mean is resampled by requests (source: Efron and Tibshirani, "An Introduction to the Bootstrap", 13.3).
- A throughput, and a slope, is computed of `BLOCKS` blocks, since neighbouring requests are alike (source: Law,
  "Simulation Modeling and Analysis", 9.5.3, on batch means).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec import Struct

from ais_prompt.perf.exchange import Ordered, Seconds

Interval = tuple[float, float]
Z: Final = 1.959964
"""The 97.5 % quantile of the normal distribution."""
BLOCKS: Final = 20
T_OF_BLOCKS: Final = 2.093024
"""The 97.5 % quantile of Student's t with 19 degrees of freedom: a mean of 20 blocks."""
T_OF_SLOPE: Final = 2.100922
"""The same with 18: the slope of a line through 20 blocks."""
MOST_RESAMPLED: Final = 5000
"""Most values that are resampled; the mean of more has a normal distribution."""
MOST_EXACT: Final = 5000
"""Most values whose ranks are computed from the binomial distribution itself, not from its normal approximation."""
RESAMPLES: Final = 1000
TAIL: Final = 0.025


def percentile_interval(ordered: Ordered, percent: float) -> Interval:
    """Return the interval of a percentile.

    Args:
        ordered: the values in their order, at least one.
        percent: 50 for the median.
    """
    n, place = len(ordered), percent / 100 * (len(ordered) - 1)
    low, high = _ranks(n, percent)
    return (
        -math.inf if low < 1 else float(ordered[min(low - 1, int(place))]),
        math.inf if high > n else float(ordered[max(high - 1, math.ceil(place))]),
    )


@lru_cache(maxsize=256)
def _ranks(n: int, percent: float) -> tuple[int, int]:
    """Return the ranks, from 1, of the order statistics at the ends; below 1 and above n there is none."""
    share = percent / 100
    if n > MOST_EXACT:
        half = Z * math.sqrt(n * share * (1 - share))
        return math.ceil(n * share - half), math.ceil(n * share + half)
    counts = np.arange(n + 1)
    choose = np.array([math.lgamma(n + 1) - math.lgamma(one + 1) - math.lgamma(n - one + 1) for one in range(n + 1)])
    below = np.cumsum(np.exp(choose + counts * math.log(share) + (n - counts) * math.log1p(-share)))  # P(B <= count)
    return int(np.count_nonzero(below <= TAIL)), int(np.count_nonzero(below < 1 - TAIL)) + 1


def mean_interval(sums: Seconds, counts: Seconds | None = None) -> Interval | None:
    """Return the interval of a mean; None of fewer than two requests.

    Args:
        sums: the sum of each request's values.
        counts: how many values each request has; None for one.
    """
    n = len(sums)
    if n < 2:
        return None
    numbers = np.ones(n) if counts is None else counts
    if not (whole := float(numbers.sum())):
        return None
    mean = float(sums.sum()) / whole
    if n > MOST_RESAMPLED:
        residuals = sums - mean * numbers  # the linear form of a ratio's error (source: Cochran, "Sampling Techniques")
        half = Z * math.sqrt(n * float(np.var(residuals, ddof=1))) / whole
        return mean - half, mean + half
    draw = np.random.default_rng(0)
    means = []
    for _ in range(RESAMPLES):
        drawn = draw.integers(n, size=n)
        means.append(sums[drawn].sum() / max(numbers[drawn].sum(), 1))
    low, high = np.percentile(means, [100 * TAIL, 100 * (1 - TAIL)])
    return float(low), float(high)


def rate_interval(amounts: Seconds, seconds: float) -> Interval:
    """Return the interval of an amount a second.

    Args:
        amounts: in each of `BLOCKS` equally long blocks.
        seconds: length of all blocks together.
    """
    rates = amounts * BLOCKS / seconds
    mean, half = float(rates.mean()), T_OF_BLOCKS * float(rates.std(ddof=1)) / math.sqrt(BLOCKS)
    return mean - half, mean + half


class Slope(Struct, frozen=True):
    """How fast a value changes.

    Attributes:
        change: a second.
        interval: of it.
        share: change over the whole time, as a share of the mean value.
    """

    change: float
    interval: Interval
    share: float


def slope(times: Seconds, values: Seconds) -> Slope | None:
    """Return the slope of a line through `BLOCKS` blocks of equally many values; None of fewer than two in each.

    Args:
        times: in their order.
        values: at these times.
    """
    if len(times) < 2 * BLOCKS:
        return None
    x, y = (np.array([part.mean() for part in np.array_split(one, BLOCKS)]) for one in (times, values))
    spread = float(np.sum((x - x.mean()) ** 2))
    if not spread:
        return None
    change = float(np.sum((x - x.mean()) * (y - y.mean()))) / spread
    rest = y - y.mean() - change * (x - x.mean())
    half = T_OF_SLOPE * math.sqrt(float(np.sum(rest**2)) / (BLOCKS - 2) / spread)
    mean = float(values.mean())
    return Slope(change, (change - half, change + half), change * float(times[-1] - times[0]) / mean if mean else 0.0)
