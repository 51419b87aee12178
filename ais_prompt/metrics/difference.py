"""Paired differences of two runs on the same questions: Tango's interval, and exact tests that agree with it.

Right and wrong answers are compared by McNemar's test, other scores by sign flips, and several tests are corrected by
Holm.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Final, NamedTuple, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from numpy.typing import NDArray

from ais_prompt.metrics.aggregate import exact_mean
from ais_prompt.metrics.distributions import t_quantile
from ais_prompt.metrics.interval import Part, Z, group_spread, spread_of
from ais_prompt.types import Spread

Key = TypeVar("Key")

LEVEL: Final = 0.05
"""Significance level: how often a test may find a difference where there is none."""
MOST_EXACT: Final = 14
"""Up to this many differences, all combinations of signs are enumerated (16,384)."""
DRAWS: Final = 9_999
SEED: Final = 0
_FEW: Final = 32
"""Up to this many different magnitudes, the number of signs is drawn instead of each sign."""
_CELLS: Final = 4_000_000
"""Number of signs in memory at once."""
TAIL: Final = LEVEL / 2
"""Of the 95 % interval, on either side."""
_NORMAL: Final = NormalDist()
_FEWEST: Final = 1e-6


class _Paired(Struct, frozen=True):
    """A mean of paired differences: what its interval and the test that the interval inverts are computed from.

    Attributes:
        value: the mean.
        worse, better: the sums of all negative and of all positive differences, divided by the number of samples.
        spread: of the mean; None for fewer than two units.
        best: the highest value of the metric, the lowest being 0; None if there is none.
    """

    value: float
    worse: float
    better: float
    spread: Spread | None
    best: float | None

    def ends(self, tail: float) -> tuple[float, float] | None:
        """Return the ends of the interval that leaves out ``tail`` on either side; None if unknown."""
        if self.spread is None:
            return None
        z = _NORMAL.inv_cdf(1 - tail)
        if self.best is None:
            half = z * _wider(self.spread, tail) * self.spread.stderr
            return (self.value - half, self.value + half) if self.spread.variance else None
        n = self._effective(self.spread, self.best, tail)
        low, high = tango_interval(self.worse / self.best * n, self.better / self.best * n, n, z)
        return low * self.best, high * self.best

    def lower_tail(self, value: float, tail: float) -> float:
        """Return the p-value of the test that the interval inverts: the lower tail of its statistic at 0.

        Args:
            value: the mean, or the other one that is as far from 0.
            tail: that the interval leaves out.
        """
        spread, best = self.spread, self.best
        if spread is None:
            return 1.0
        if best is None:
            return _NORMAL.cdf(value / (spread.stderr * _wider(spread, tail))) if spread.variance else 0.5
        changed = (self.worse + self.better) / best
        return _NORMAL.cdf(value / best * math.sqrt(self._effective(spread, best, tail) / changed)) if changed else 0.5

    def _effective(self, spread: Spread, best: float, tail: float) -> float:
        """Return the effective number of samples: right or wrong answers with the same variance of the mean."""
        possible = (self.worse + self.better) / best - (self.value / best) ** 2
        if spread.freedom is None or possible <= 0 or spread.variance <= 0:
            return spread.units
        return max(possible / (spread.variance / best**2) / _wider(spread, tail) ** 2, _FEWEST)


class MeanDifference(_Paired, frozen=True, kw_only=True):
    """The mean of paired differences.

    Attributes:
        stderr: its standard error; None for fewer than two units.
        interval: 95 % confidence interval; None if unknown.
        p: p-value of the difference (two-sided). It is below 5 % exactly where the interval
            leaves out 0.
        p_worse: how likely so low a difference is if nothing became worse (one-sided).
        units: independent units: samples, or clusters of them.
    """

    stderr: float | None
    interval: tuple[float, float] | None
    p: float
    p_worse: float
    units: int

    def low_end(self, confidence: float) -> float | None:
        """Return the lower end of the one-sided interval; None if unknown."""
        ends = self.ends(1 - confidence)
        return ends[0] if ends else None

    def interval_at(self, level: float) -> tuple[float, float] | None:
        """Return the interval with confidence ``1 - level``, which leaves out 0 only if ``p`` is below ``level``."""
        return with_zero(self.ends(level / 2), self.p, level)

    def effective(self, tail: float) -> float:
        """Return the effective number of samples: right or wrong answers with the same variance of the mean."""
        if self.spread is None or self.best is None:
            return self.units
        return self._effective(self.spread, self.best, tail)


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
    sums: defaultdict[object, float] = defaultdict(float)  # of each unit, a sample or a cluster
    sizes: Counter[object] = Counter()
    for unit, difference in zip(clusters or range(n), differences, strict=True):
        sums[unit] += difference
        sizes[unit] += 1
    binary = best is not None and len(sums) == n and all(abs(one) in (0.0, best) for one in differences)
    down, up = [-one for one in differences if one < 0], [one for one in differences if one > 0]
    spread = spread_of([(total - value * sizes[unit]) / n for unit, total in sums.items()], binary)
    paired = _Paired(value, math.fsum(down) / n, math.fsum(up) / n, spread, best)
    if binary:  # McNemar's exact test is below 5 % only where the one that the interval inverts is, too
        tails = Tails(mcnemar_worse(len(down), len(up)), mcnemar_worse(len(up), len(down)))
        p, p_worse = tails.two_sided, tails.worse
    else:
        tails, (p, p_worse) = sign_flips(list(sums.values())), _inverted(paired)
        p, p_worse = max(p, tails.two_sided), max(p_worse, tails.worse)
    return _tested(paired, len(sums), p, p_worse, with_zero(paired.ends(TAIL), p, LEVEL))


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
    paired = _Paired(value, worse, better, spread, best)
    return _tested(paired, sum(part.units for part in parts), *_inverted(paired), paired.ends(TAIL))


def _inverted(paired: _Paired) -> tuple[float, float]:
    """Return the two-sided and the one-sided p-value of the test that the interval inverts."""
    return 2 * paired.lower_tail(-abs(paired.value), TAIL), paired.lower_tail(paired.value, LEVEL)


def _tested(
    paired: _Paired, units: int, p: float, p_worse: float, interval: tuple[float, float] | None
) -> MeanDifference:
    stderr = None if paired.spread is None else paired.spread.stderr
    return MeanDifference(
        **asdict(paired), stderr=stderr, interval=interval, p=min(p, 1.0), p_worse=p_worse, units=units
    )


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


def mcnemar_worse(worse: int, better: int) -> float:
    """Return the probability of at least ``worse`` among the changed samples if both directions are equally likely.

    Source: McNemar 1947, in its exact form: a binomial test of ``worse`` out of all that changed, with probability 1/2.

    Args:
        worse: samples that were right and are wrong.
        better: samples that were wrong and are right.
    """
    # In whole numbers, so that only the result is rounded.
    ways = total = 1
    for number in range(1, better + 1):
        ways = ways * (worse + better - number + 1) // number
        total += ways
    found: float = total / 2 ** (worse + better)
    return found


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """Correct the p-values of several tests, so that all together err at the level of one.

    Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    adjusted: dict[Key, float] = {}
    highest = 0.0
    for rank, key in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[key] * (len(p_values) - rank)))
        adjusted[key] = highest
    return {key: adjusted[key] for key in p_values}


def with_zero(interval: tuple[float, float] | None, p: float, level: float) -> tuple[float, float] | None:
    """Return an interval of a difference, extended to 0 unless the p-value of the difference is below the level."""
    if interval is None or p < level:
        return interval
    return min(interval[0], 0.0), max(interval[1], 0.0)


def matched_worse(before: Sequence[int], after: Sequence[int], runs: int) -> float:
    """Return the probability of so few right answers if the new run is like the earlier ones.

    For each question the number of right answers over all runs, the new one included, is given. If the new run is like
    the others, each run is equally likely to be the new one, so its number of right answers is a sum of binomials. With
    one earlier run this is McNemar's exact test.

    Source: Mantel and Haenszel 1959, "Statistical Aspects of the Analysis of Data from Retrospective Studies of
    Disease", for matched sets, with the exact distribution.

    Args:
        before: right answers to each question in the earlier runs, 0 to ``runs``.
        after: 1 or 0 for each question: whether the new run is right.
        runs: earlier runs.
    """
    right = Counter(old + new for old, new in zip(before, after, strict=True))
    distribution = np.ones(1)
    for number in range(1, runs + 1):
        distribution = np.convolve(distribution, _binomial_distribution(right[number], number / (runs + 1)))
    # Where all runs are right, the new one is.
    observed = sum(after) - right[runs + 1]
    return min(1.0, float(distribution[: observed + 1].sum()))


def _binomial_distribution(trials: int, chance: float) -> NDArray[np.float64]:
    factorials = np.array([math.lgamma(number + 1) for number in range(trials + 1)])
    successes = np.arange(trials + 1)
    logarithms = factorials[-1] - factorials - factorials[::-1]
    found: NDArray[np.float64] = np.exp(
        logarithms + successes * math.log(chance) + (trials - successes) * math.log1p(-chance)
    )
    return found


class Tails(NamedTuple):
    """p-values of the two one-sided tests.

    Attributes:
        worse: probability of a sum as low if the differences are symmetric around 0.
        better: probability of a sum as high.
    """

    worse: float
    better: float

    @property
    def two_sided(self) -> float:
        """The p-value for either direction."""
        return min(1.0, 2 * min(self))


def sign_flips(differences: Sequence[float]) -> Tails:
    """Return the probability of a sum as extreme if each difference is equally likely to have the other sign.

    Up to `MOST_EXACT` differences other than 0 have all combinations of signs; more have 9,999 random ones, always the
    same, and the observed one is counted with them. The test assumes no distribution. Where each sample is right or
    wrong it is McNemar's exact test.

    Source: Fisher 1935, "The Design of Experiments", section 21; Phipson and Smyth 2010, "Permutation P-values Should
    Never Be Zero".

    Args:
        differences: one for each independent unit.
    """
    values = np.asarray(differences, dtype=np.float64)
    changed = values[values != 0]
    if not len(changed):
        return Tails(1.0, 1.0)
    total = float(changed.sum())
    tolerance = 1e-12 * float(np.abs(changed).sum())  # sums of the same numbers in another order are equal
    sums, itself = np.zeros(1), 0
    if len(changed) <= MOST_EXACT:
        for value in changed:
            sums = np.concatenate([sums + value, sums - value])
    else:
        sums, itself = _drawn_sums(np.abs(changed)), 1
    low = int((sums <= total + tolerance).sum()) + itself
    high = int((sums >= total - tolerance).sum()) + itself
    return Tails(low / (len(sums) + itself), high / (len(sums) + itself))


def _drawn_sums(magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
    draw = np.random.default_rng(SEED)
    different, counts = np.unique(magnitudes, return_counts=True)
    if len(different) <= _FEW:
        ups = draw.binomial(counts, 0.5, size=(DRAWS, len(counts)))
        sums: NDArray[np.float64] = (2.0 * ups - counts) @ different
        return sums
    found = []
    rows = max(_CELLS // len(magnitudes), 1)
    for start in range(0, DRAWS, rows):
        size = min(rows, DRAWS - start)
        bits = draw.integers(0, 256, size=(size, -(-len(magnitudes) // 8)), dtype=np.uint8)
        positive = np.unpackbits(bits, axis=1, count=len(magnitudes))
        found.append(2 * (positive @ magnitudes) - magnitudes.sum())
    return np.concatenate(found)
