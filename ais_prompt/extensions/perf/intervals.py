"""95 % intervals of the numbers of a load, from blocks of time, since requests that wait for each other are alike.

- A mean varies with the sums of blocks of neighbouring requests (`half_width`; source: Law, "Simulation Modeling and
  Analysis", 9.5.3, on batch means).
- A percentile has order statistics as its ends, whose ranks follow from the binomial distribution (source: Conover,
  "Practical Nonparametric Statistics", 3.2) with as many values as are independent: the share of values below the
  percentile varies with the blocks. Where no value is extreme enough to be an end, the end is infinite.
- A throughput, and a slope, is computed of `BLOCKS` blocks.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec import Struct

from ais_prompt.extensions.perf.exchange import Ordered, Seconds
from ais_prompt.metrics import t_quantile

Interval = tuple[float, float]
Z: Final = 1.959964
"""The 97.5 % quantile of the normal distribution."""
BLOCKS: Final = 20
T_OF_BLOCKS: Final = 2.093024
"""The 97.5 % quantile of Student's t with 19 degrees of freedom: a mean of 20 blocks."""
T_OF_SLOPE: Final = 2.100922
"""The same with 18: the slope of a line through 20 blocks."""
LONG_BLOCKS: Final = 5
FEWEST: Final = 10
"""Fewer requests are not divided into blocks."""
ALIKE: Final = 0.25
"""Blocks whose correlation with their neighbours is larger are too short."""
MOST_ALIKE: Final = 0.8
"""Largest correlation of long blocks that counts: few of them show it only roughly."""
MOST_EXACT: Final = 5000
"""Most values whose ranks are computed from the binomial distribution itself, not from its normal approximation."""
TAIL: Final = 0.025


def half_width(errors: Seconds) -> float:
    """Return half of the 95 % interval of a sum of errors with the mean 0.

    Requests that wait for each other are alike. So the sums of blocks of neighbours vary, not single requests: of
    `BLOCKS` blocks, or of `LONG_BLOCKS` if these are alike as well. What is left of the likeness of two neighbouring
    blocks counts as in an autoregressive process. The interval is never narrower than that of independent requests.

    Sources: Law, as above; Tafazzoli, Steiger and Wilson 2011, "N-Skart", on the correction for neighbouring blocks.
    Chosen by simulation, see ``bench.statistics_loads``.

    Args:
        errors: what each request adds, in the order of their time; at least two.
    """
    n = len(errors)
    alone = t_quantile(1 - TAIL, n - 1) * math.sqrt(n * float(np.var(errors, ddof=1)))
    blocks, squares, likeness = 0, 0.0, 1.0
    for blocks in (number for number in (BLOCKS, LONG_BLOCKS) if n >= max(number, FEWEST)):
        sums = np.array([part.sum() for part in np.array_split(errors, blocks)])
        squares = float(sums @ sums)
        # Blocks that are independent have a correlation of -1 / blocks in the mean.
        likeness = float(sums[1:] @ sums[:-1]) / squares + 1 / blocks if squares else 0.0
        if likeness <= ALIKE:
            break
    if not squares:
        return alone
    likeness = min(max(likeness, 0.0), MOST_ALIKE)
    variance = squares * blocks / (blocks - 1) * (1 + likeness) / (1 - likeness)
    return max(alone, t_quantile(1 - TAIL, blocks - 1) * math.sqrt(variance))


def independent_values(below: Seconds, counts: Seconds) -> float:
    """Return how many independent values would show a percentile as well as those of a load do.

    Args:
        below: how many values of each request are not above the percentile, in the order of their time.
        counts: how many values each request has.
    """
    n = float(counts.sum())
    share = float(below.sum()) / n
    # Fewer requests do not show whether they are alike.
    half = half_width(below - share * counts) / n if len(counts) >= FEWEST else 0.0
    return min(n, share * (1 - share) * (Z / half) ** 2) if half else n


def percentile_interval(ordered: Ordered, percent: float, independent: float | None = None) -> Interval:
    """Return the interval of a percentile.

    Args:
        ordered: the values in their order, at least one.
        percent: 50 for the median.
        independent: how many of them are independent; None for all.
    """
    low, high = _places(len(ordered), percent, independent)
    return (
        -math.inf if low is None else float(ordered[low]),
        math.inf if high is None else float(ordered[high]),
    )


def _places(n: int, percent: float, independent: float | None) -> tuple[int | None, int | None]:
    """Return the places, from 0, of the order statistics at the ends; None where there is none."""
    place = percent / 100 * (n - 1)
    m = n if independent is None else max(min(int(independent), n), 1)
    low, high = _ranks(m, percent)
    # One of m independent values counts as n / m values: the ends are the outer ones of these.
    return (
        None if low < 1 else min((low - 1) * n // m, int(place)),
        None if high > m else max(math.ceil(high * n / m) - 1, math.ceil(place)),
    )


@lru_cache(maxsize=4096)
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


def percentile_errors(values: Seconds, percent: float) -> Seconds | None:
    """Return what each value adds to the error of the logarithm of a percentile; the errors have the mean 0.

    It is the share of values below the percentile that varies, and the slope of the quantiles, between the ends of the
    interval, makes a logarithm of it. Source: Hampel 1974, "The Influence Curve and Its Role in Robust Estimation".

    Args:
        values: in the order of their time, at least two.
        percent: 50 for the median.

    Returns:
        None if the interval has an infinite end, or one at 0: then nothing is known of the slope.
    """
    n, ordered = len(values), np.sort(values)
    below = (values <= np.percentile(ordered, percent)).astype(np.float64)
    low, high = _places(n, percent, independent_values(below, np.ones(n)))
    if low is None or high is None or ordered[low] <= 0:
        return None
    slope_of_log = math.log(ordered[high] / ordered[low]) / ((high - low) / n) if high > low else 0.0
    errors: Seconds = (below.mean() - below) * slope_of_log / n
    return errors


def mean_interval(sums: Seconds, counts: Seconds | None = None) -> Interval | None:
    """Return the interval of a mean of values that are not below 0; None of fewer than two requests.

    Args:
        sums: the sum of each request's values, in the order of their time.
        counts: how many values each request has; None for one.
    """
    n = len(sums)
    numbers = np.ones(n) if counts is None else counts
    if n < 2 or not (whole := float(numbers.sum())):
        return None
    mean = float(sums.sum()) / whole
    half = half_width(sums - mean * numbers) / whole  # of a ratio (source: Cochran, "Sampling Techniques", 2.11)
    if n < FEWEST or mean <= 0:
        return max(mean - half, 0.0), mean + half
    # Latencies are skewed: the interval is that of the logarithm.
    return mean * math.exp(-half / mean), mean * math.exp(half / mean)


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
