"""Exact tests of two runs on the same questions, their power, and the false alarms to expect of them.

Right and wrong answers are compared by McNemar's test, other scores by sign flips, and several tests are corrected by
Holm.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ais_prompt.metrics.distributions import binomial_tail

Key = TypeVar("Key")

LEVEL: Final = 0.05
"""Significance level: how often a test may find a difference where there is none."""
POWER: Final = 0.8
"""Power: how often a detectable difference is found."""
MOST_EXACT: Final = 14
"""Up to this many differences, all combinations of signs are enumerated (16,384)."""
DRAWS: Final = 9_999
SEED: Final = 0
_FEW: Final = 32
"""Up to this many different magnitudes, the number of signs is drawn instead of each sign."""
_CELLS: Final = 4_000_000
"""Number of signs in memory at once."""
_REACH: Final = 8
"""Standard deviations of the number of changed samples that are summed, on either side."""
_TERMS: Final = 80
"""Maximum number of terms; the power hardly changes between them."""
MOST_SAMPLES: Final = 1_000_000
"""Most samples that `fewest_samples` tries."""
NIGHTS: Final = 365
_BASELINES: Final = 4_000


def mcnemar_worse(worse: int, better: int) -> float:
    """Return the probability of at least ``worse`` among the changed samples if both directions are equally likely.

    Source: McNemar 1947, in its exact form: a binomial test of ``worse`` out of all that changed, with probability 1/2.

    Args:
        worse: samples that were right and are wrong.
        better: samples that were wrong and are right.
    """
    return _at_most(better, worse + better)


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


def _at_most(successes: int, trials: int) -> float:
    """Return P(X ≤ successes) of a fair binomial, in whole numbers, so that only the result is rounded."""
    ways = total = 1
    for number in range(1, successes + 1):
        ways = ways * (trials - number + 1) // number
        total += ways
    return total / 2**trials if successes >= 0 else 0.0


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
    exact = len(changed) <= MOST_EXACT
    sums = _all_sums(changed) if exact else _drawn_sums(np.abs(changed))
    itself = 0 if exact else 1
    low = int((sums <= total + tolerance).sum()) + itself
    high = int((sums >= total - tolerance).sum()) + itself
    return Tails(low / (len(sums) + itself), high / (len(sums) + itself))


def _all_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


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


"""Power: how often a detectable drop is found."""


def mcnemar_power(n: int, worse: float, better: float, level: float = LEVEL) -> float:
    """Return how often the exact one-sided McNemar test finds a drop.

    The number of changed samples is binomial, and so is how many of them became worse. Source: Miettinen 1968, "The
    Matched Pairs Design in the Case of All-or-None Responses", the unconditional power.

    Args:
        n: samples.
        worse, better: probability that a sample becomes worse, and better.
        level: of the test.
    """
    changed = min(worse + better, 1.0)
    if changed <= 0:
        return 0.0
    return over_changes(
        n, changed, lambda number: binomial_tail(_critical(number, level), number, min(worse / changed, 1.0))
    )


def over_changes(n: int, changed: float, power: Callable[[int], float]) -> float:
    """Return the mean power over the number of changed samples, which is binomial.

    Args:
        n: samples.
        changed: how likely a sample changes, above 0.
        power: of a test, by the number of samples that changed.
    """
    spread = _REACH * math.sqrt(n * changed * (1 - changed)) + _REACH
    low, high = max(0, math.floor(n * changed - spread)), min(n, math.ceil(n * changed + spread))
    weights, found = 0.0, 0.0
    for number in range(low, high + 1, max(1, (high - low) // _TERMS)):
        weight = _binomial_chance(number, n, changed)
        weights += weight
        if weight:
            found += weight * power(number)
    return found / weights


def detectable_drop(n: int, changed: float, level: float = LEVEL) -> float | None:
    """Return the smallest drop that the exact one-sided McNemar test finds in 80 %.

    In addition to the samples that change without a drop, half of them for the worse, others become worse.

    Args:
        n: samples.
        changed: the share of samples that change without a drop.
        level: of the test.

    Returns:
        As a share of all samples; None if no drop is found so often.
    """
    return _smallest(lambda drop: mcnemar_power(n, changed / 2 + drop, changed / 2, level) >= POWER, 1 - changed)


def fewest_samples(found: Callable[[int], bool]) -> int | None:
    """Return the smallest number of samples that is enough; None if `MOST_SAMPLES` are not.

    Args:
        found: returns whether a number of samples is enough.
    """
    high = 1
    while not found(high):
        high *= 2
        if high > MOST_SAMPLES:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _smallest(found: Callable[[float], bool], most: float) -> float | None:
    if most <= 0 or not found(most):
        return None
    low, high = 0.0, most
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


@lru_cache(maxsize=10_000)
def _critical(changed: int, level: float) -> int:
    """Return how many of the changed samples must be worse for a significant drop; more than all if none can."""
    low, high = changed // 2, changed + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_tail(middle, changed, 0.5) < level else (middle, high)
    return high


def _binomial_chance(successes: int, trials: int, chance: float) -> float:
    if chance >= 1:
        return float(successes == trials)
    ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(ways + successes * math.log(chance) + (trials - successes) * math.log1p(-chance))


class Alarms(NamedTuple):
    """False alarms in a year of nightly runs against one baseline.

    Attributes:
        mean: number of nights, averaged over all possible baselines of the same model.
        unlucky: number of nights that one of ten such baselines reaches or exceeds.
    """

    mean: float
    unlucky: float


def alarms_per_year(datasets: int, runs: int, level: float = LEVEL) -> Alarms:
    """Return the expected number of nights in a year that alarm although nothing became worse.

    Each night has noise of its own, but all of them share that of the baseline: a lucky one makes every night look
    worse. A baseline of ``runs`` runs has 1 / (runs + 1) of the variance of the difference. The noise is taken to be
    normal; with few changing samples the tests are stricter than their level, and there are fewer alarms.

    Args:
        datasets: number of datasets whose answers vary from night to night.
        runs: in the baseline.
        level: of the gate, for all datasets together.
    """
    if not datasets:
        return Alarms(0.0, 0.0)
    normal = NormalDist()
    shared = 1 / (runs + 1)
    luck = np.random.default_rng(SEED).standard_normal((_BASELINES, datasets))
    # The first step of Holm's procedure decides whether there is an alarm at all.
    limit = normal.inv_cdf(level / datasets)
    ends = (limit - np.sqrt(shared) * luck) / np.sqrt(1 - shared)
    quiet = np.array([[1 - normal.cdf(end) for end in row] for row in ends.tolist()]).prod(axis=1)
    nights = NIGHTS * (1 - quiet)
    return Alarms(float(nights.mean()), float(np.quantile(nights, 0.9)))
