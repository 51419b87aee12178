"""Paired differences: Tango's interval, and p-values that agree with it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

from msgspec import Struct

from ais_prompt.metrics.aggregate import exact_mean
from ais_prompt.metrics.distributions import t_quantile
from ais_prompt.metrics.interval import Part, Z, group_spread, spread_of
from ais_prompt.metrics.paired import LEVEL, Tails, mcnemar_worse, sign_flips, with_zero
from ais_prompt.types import Spread

TAIL: Final = LEVEL / 2
"""Of the 95 % interval, on either side."""
_NORMAL: Final = NormalDist()
_FEWEST: Final = 1e-6


class MeanDifference(Struct, frozen=True):
    """The mean of paired differences.

    Attributes:
        value: the mean.
        stderr: its standard error; None for fewer than two units.
        interval: 95 % confidence interval; None if unknown.
        p: p-value of the difference (two-sided). It is below 5 % exactly where the interval
            leaves out 0.
        p_worse: how likely so low a difference is if nothing became worse (one-sided).
        units: independent units: samples, or clusters of them.
        worse, better: the sums of all negative and of all positive differences, divided by the number of samples.
        spread: of the mean; None for fewer than two units.
        best: the highest value of the metric, the lowest being 0; None if there is none.
    """

    value: float
    stderr: float | None
    interval: tuple[float, float] | None
    p: float
    p_worse: float
    units: int
    worse: float
    better: float
    spread: Spread | None
    best: float | None

    def low_end(self, confidence: float) -> float | None:
        """Return the lower end of the one-sided interval; None if unknown."""
        ends = _ends(self.value, self.worse, self.better, self.spread, self.best, 1 - confidence)
        return ends[0] if ends else None

    def interval_at(self, level: float) -> tuple[float, float] | None:
        """Return the interval with confidence ``1 - level``, which leaves out 0 only if ``p`` is below ``level``."""
        ends = _ends(self.value, self.worse, self.better, self.spread, self.best, level / 2)
        return with_zero(ends, self.p, level)

    def effective(self, tail: float) -> float:
        """Return the effective number of samples: right or wrong answers with the same variance of the mean."""
        if self.spread is None or self.best is None:
            return self.units
        return _effective(self.value, self.worse, self.better, self.spread, self.best, tail)


def mean_difference(
    differences: Sequence[float], clusters: Sequence[str] | None = None, best: float | None = 1.0
) -> MeanDifference:
    """Return the mean of paired differences with its interval and p-values.

    The interval is Tango's. Values that are not only right or wrong, and clusters, have it with as many samples as
    would make the mean vary as much as it does, and with the quantile of Student's t in place of the normal one.

    There are two tests: the one that the interval inverts, and the one that flips signs, which assumes nothing. The
    p-value is the larger one; where the interval leaves out 0 and flipping signs does not, the interval is extended to
    0. So both always say the same. For right and wrong the p-value is that of McNemar's exact test: flipping signs.

    Sources: Tango 1998, as in `tango_interval`; for the effective number Kish 1965 and Franco et al. 2019, as in
    `ais_prompt.metrics.interval.mean_interval`.

    Args:
        differences: of the samples, in the metric's own unit; at least one.
        clusters: the cluster of each sample; None if all are independent.
        best: the highest value of the metric, the lowest being 0; None if there is none.
    """
    n, value = len(differences), exact_mean(differences)
    sums, deviations = _units(differences, clusters, value)
    binary = best is not None and len(sums) == n and all(abs(one) in (0.0, best) for one in differences)
    worse = math.fsum(-one for one in differences if one < 0) / n
    better = math.fsum(one for one in differences if one > 0) / n
    spread = spread_of(deviations, binary)
    tails = _binary_tails(differences) if binary else sign_flips(sums)
    p, p_worse = tails.two_sided, tails.worse
    if not binary:  # McNemar's exact test is below 5 % only where the one that the interval inverts is, too
        p = max(p, 2 * _score_tail(-abs(value), worse, better, spread, best, TAIL))
        p_worse = max(p_worse, _score_tail(value, worse, better, spread, best, LEVEL))
    return MeanDifference(
        value=value,
        stderr=None if spread is None else spread.stderr,
        interval=with_zero(_ends(value, worse, better, spread, best, TAIL), p, LEVEL),
        p=min(p, 1.0),
        p_worse=p_worse,
        units=len(sums),
        worse=worse,
        better=better,
        spread=spread,
        best=best,
    )


def mean_of_differences(
    parts: Sequence[MeanDifference], questions: Sequence[Sequence[tuple[str, float]]]
) -> MeanDifference:
    """Return the mean of several differences, each with the same weight.

    Its interval and p-value are those that the interval inverts, with the variance of
    `ais_prompt.metrics.interval.group_spread`: datasets vary together as far as they share questions.

    Args:
        parts: the difference of each dataset; at least one.
        questions: of each dataset, name and difference of each question or cluster.
    """
    value, worse, better = (
        exact_mean([getattr(part, name) for part in parts]) for name in ("value", "worse", "better")
    )
    spreads = [part.spread for part in parts if part.spread is not None]
    bests = {part.best for part in parts}
    best = bests.pop() if len(bests) == 1 else None
    spread = None
    if len(spreads) == len(parts):
        shares = zip(parts, spreads, questions, strict=True)
        spread = group_spread([Part(1 / len(parts), part.value, own, asked) for part, own, asked in shares])
    interval = _ends(value, worse, better, spread, best, TAIL)
    p_worse = _score_tail(value, worse, better, spread, best, LEVEL)
    return MeanDifference(
        value=value,
        stderr=None if spread is None else spread.stderr,
        interval=interval,
        p=min(2 * _score_tail(-abs(value), worse, better, spread, best, TAIL), 1.0),
        p_worse=p_worse,
        units=sum(part.units for part in parts),
        worse=worse,
        better=better,
        spread=spread,
        best=best,
    )


def _units(
    differences: Sequence[float], clusters: Sequence[str] | None, mean: float
) -> tuple[list[float], list[float]]:
    """Return the sum of the differences of each unit, a sample or a cluster, and its part of the mean's deviation."""
    sums: defaultdict[object, float] = defaultdict(float)
    sizes: defaultdict[object, int] = defaultdict(int)
    for unit, difference in zip(clusters or range(len(differences)), differences, strict=True):
        sums[unit] += difference
        sizes[unit] += 1
    return list(sums.values()), [(sums[unit] - mean * sizes[unit]) / len(differences) for unit in sums]


def _binary_tails(differences: Sequence[float]) -> Tails:
    worse, better = (sum(one * sign > 0 for one in differences) for sign in (-1, 1))
    return Tails(mcnemar_worse(worse, better), mcnemar_worse(better, worse))


def _ends(
    value: float, worse: float, better: float, spread: Spread | None, best: float | None, tail: float
) -> tuple[float, float] | None:
    """Return the ends of the interval that leaves out ``tail`` on either side."""
    if spread is None:
        return None
    z = _NORMAL.inv_cdf(1 - tail)
    if best is None:
        half = z * _wider(spread, tail) * spread.stderr
        return (value - half, value + half) if spread.variance else None
    n = _effective(value, worse, better, spread, best, tail)
    low, high = tango_interval(worse / best * n, better / best * n, n, z)
    return low * best, high * best


def _score_tail(
    value: float, worse: float, better: float, spread: Spread | None, best: float | None, tail: float
) -> float:
    """Return the p-value of the test that the interval inverts: the lower tail of its statistic at 0."""
    if spread is None:
        return 1.0
    if best is None:
        return _NORMAL.cdf(value / (spread.stderr * _wider(spread, tail))) if spread.variance else 0.5
    changed = (worse + better) / best
    if not changed:
        return 0.5
    return _NORMAL.cdf(value / best * math.sqrt(_effective(value, worse, better, spread, best, tail) / changed))


def _effective(value: float, worse: float, better: float, spread: Spread, best: float, tail: float) -> float:
    """Return the effective number of samples: right or wrong answers with the same variance of the mean."""
    if spread.freedom is None:
        return spread.units
    possible = (worse + better) / best - (value / best) ** 2
    if possible <= 0 or spread.variance <= 0:
        return spread.units
    return max(possible / (spread.variance / best**2) / _wider(spread, tail) ** 2, _FEWEST)


def _wider(spread: Spread, tail: float) -> float:
    """Return the ratio of the quantiles of Student's t and the normal distribution."""
    return 1.0 if spread.freedom is None else t_quantile(1 - tail, spread.freedom) / _NORMAL.inv_cdf(1 - tail)


_STEPS: Final = 80
"""Bisections of the range from -1 to 1, more than the precision of a double."""


def tango_interval(worse: float, better: float, n: float, z: float = Z) -> tuple[float, float]:
    """Return the score interval of the difference of two shares of the same samples.

    It has a width even if nothing changed: with ``n`` samples, about 4 / ``n``.

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
        if squared_score(worse, better, n, middle) > z * z:
            outside = middle
        else:
            inside = middle
    return inside


def squared_score(worse: float, better: float, n: float, difference: float) -> float:
    """Return the square of the statistic, with the maximum-likelihood variance at this difference."""
    a = 2 * n
    b = -better - worse + (2 * n - better + worse) * difference
    c = -worse * difference * (1 - difference)
    share_worse = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (2 * share_worse + difference * (1 - difference))
    distance = (better - worse - n * difference) ** 2
    if distance == 0:
        return 0.0
    return distance / variance if variance > 0 else math.inf
