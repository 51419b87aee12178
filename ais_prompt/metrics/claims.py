"""What samples can show: claims about a true value, the power of tests, false alarms, and limits from earlier runs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.metrics.aggregate import exact_mean, unit_deviations
from ais_prompt.metrics.difference import LEVEL, SEED, squared_score
from ais_prompt.metrics.distributions import beta_quantile, binomial_tail, t_quantile

POWER: Final = 0.8
"""Power: how often a detectable difference is found."""
MOST_SAMPLES: Final = 1_000_000
"""Most samples that `fewest_samples` tries."""
NIGHTS: Final = 365
_REACH: Final = 8
"""Standard deviations of the number of changed samples that are summed, on either side."""
_TERMS: Final = 80
"""Maximum number of terms; the power hardly changes between them."""
_BASELINES: Final = 4_000
_NORMAL: Final = NormalDist()


def low_end(questions: Sequence[tuple[str, float]], confidence: float) -> float | None:
    """Return the lower end of the one-sided interval of a mean of values from 0 to 1; None for fewer than two units.

    For right and wrong it is that of Clopper and Pearson, which is never too high more often than it may be. Other
    values and clusters have it with an effective number of samples, and fewer of them for the doubt in the variance:
    Student's t with as many degrees of freedom as there are units that deviate, which is their number divided by the
    kurtosis. It is never below the end for as many right and wrong answers as there are units. Chosen by simulation,
    see ``bench.statistics_claims``.

    Sources: Clopper and Pearson 1934, "The Use of Confidence or Fiducial Limits"; Korn and Graubard 1998, "Confidence
    Intervals for Proportions with Small Expected Number of Positive Counts Estimated from Survey Data".

    Args:
        questions: the unit of each question, which is the question itself or its cluster, and its value.
        confidence: above 0.5 and below 1.
    """
    mean = exact_mean([value for _, value in questions])
    deviations = unit_deviations(questions, mean)
    n = units = float(len(deviations))
    if units < 2:
        return None
    squares = math.fsum(value * value for value in deviations)
    is_binary = units == len(questions) and all(value in (0.0, 1.0) for _, value in questions)
    if squares and not is_binary:
        kurtosis = units * math.fsum((value * value / squares) ** 2 for value in deviations)
        freedom = min(max(units / kurtosis, 1.0), units - 1)
        wider = t_quantile(confidence, freedom) / _NORMAL.inv_cdf(confidence)
        effective = mean * (1 - mean) * (units - 1) / (units * squares)
        n = max(effective / wider**2, min(effective, units))
    right = mean * n
    return beta_quantile(1 - confidence, right, n - right + 1) if right > 0 else 0.0


def fewest_for(limit: float, confidence: float) -> int:
    """Return the number of samples that show a share of at least ``limit`` if all of them are right.

    Args:
        limit: what is claimed, 0 to 1.
        confidence: of the claim, 0.95 for 95 %.
    """
    return math.ceil(round(math.log(1 - confidence) / math.log(limit), 9)) if limit > 0 else 1


def samples_for(limit: float, true: float, confidence: float) -> int | None:
    """Return the number of samples that show a share of at least ``limit`` in 80 % of all runs; None above a million.

    Args:
        limit: what is claimed.
        true: the true share, above ``limit``.
        confidence: of the claim.
    """

    def found(n: int) -> bool:
        needed = bisect_left(range(1, n + 1), True, key=lambda right: binomial_tail(right, n, limit) <= 1 - confidence)
        return binomial_tail(1 + needed, n, true) >= POWER

    return fewest_samples(found)


def samples_for_drop(limit: float, changed: float, confidence: float) -> int | None:
    """Return the number of samples that show in 80 % of all runs that nothing dropped by ``limit``, if nothing did.

    As many samples become better as worse, in the mean; the claim is shown where Tango's interval of the difference
    ends above ``-limit`` (`ais_prompt.metrics.difference.tango_interval`).

    Args:
        limit: the drop that would matter, above 0.
        changed: the share of samples that change all the same.
        confidence: of the claim.

    Returns:
        None above a million.
    """
    z = _NORMAL.inv_cdf(confidence)

    def is_shown(worse: int, better: int, n: int) -> bool:
        return (better - worse) / n > -limit and squared_score(worse, better, n, -limit) >= z * z

    def power(number: int, n: int) -> float:
        """Return how often the claim is shown if so many samples change: in that many cases few become worse."""
        too_many = bisect_left(range(number + 1), True, key=lambda worse: not is_shown(worse, number - worse, n))
        return 1 - binomial_tail(too_many, number, 0.5)

    def found(n: int) -> bool:
        if not changed:
            return is_shown(0, 0, n)
        return over_changes(n, changed, lambda number: power(number, n)) >= POWER

    return fewest_samples(found)


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

    def found(drop: float) -> bool:
        return mcnemar_power(n, changed / 2 + drop, changed / 2, level) >= POWER

    low, high = 0.0, 1 - changed
    if high <= 0 or not found(high):
        return None
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


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
    least = high // 2 + 1
    return least + bisect_left(range(least, high), True, key=found)


@lru_cache(maxsize=10_000)
def _critical(changed: int, level: float) -> int:
    """Return how many of the changed samples must be worse for a significant drop; more than all if none can."""
    least = changed // 2 + 1
    numbers = range(least, changed + 1)
    return least + bisect_left(numbers, True, key=lambda worse: binomial_tail(worse, changed, 0.5) < level)


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
    shared = 1 / (runs + 1)
    luck = np.random.default_rng(SEED).standard_normal((_BASELINES, datasets))
    # The first step of Holm's procedure decides whether there is an alarm at all.
    limit = _NORMAL.inv_cdf(level / datasets)
    ends = (limit - np.sqrt(shared) * luck) / np.sqrt(1 - shared)
    quiet = np.array([[1 - _NORMAL.cdf(end) for end in row] for row in ends.tolist()]).prod(axis=1)
    nights = NIGHTS * (1 - quiet)
    return Alarms(float(nights.mean()), float(np.quantile(nights, 0.9)))


POOLING: Final = 0.25
"""Level of the test that decides which variance counts: high, since a missed cause raises alarms (Bancroft 1964)."""
ENOUGH_RUNS: Final = 5
"""Fewer runs rarely show what moves all scores of a run."""


class Threshold(Struct, frozen=True):
    """A limit for the score of later runs.

    Attributes:
        mean: of the scores.
        deviation: standard deviation of one score from run to run; 0 if all answers are equal.
        limit: later runs of the same model are below it with probability ``level``; above it where less is better.
        drop: the drop of the true score that is below the limit in 80 % of runs; where less is better, the rise.
        varies_beyond: whether the scores vary more than their questions explain.
        level: how often a run of the same model is beyond the limit.
    """

    mean: float
    deviation: float
    limit: float
    drop: float
    varies_beyond: bool
    level: float


def threshold(values: NDArray[np.float64], level: float, *, lower_is_better: bool = False) -> Threshold:
    """Return the threshold for a level of false alarms.

    The score of one more run is predicted by the t distribution: it varies by ``deviation`` around the true mean, which
    the earlier runs know only to ``deviation / sqrt(runs)`` (Hahn and Meeker 1991, Statistical Intervals, section 4.7).
    The deviation is known best from the questions, each of which varies by itself: with a few runs they have many
    degrees of freedom (Satterthwaite 1946). Where the scores vary more than their questions explain, something else
    changes between the runs, and the deviation of the scores counts.

    Args:
        values: of each question (rows) in each run (columns, at least two).
        level: how often a run of the same model may be beyond the limit, above 0 and below 0.5.
        lower_is_better: the limit is an upper one.
    """
    questions, runs = values.shape
    scores = values.mean(axis=0)
    mean = float(scores.mean())
    variances = values.var(axis=1, ddof=1)
    of_questions = float(variances.sum()) / questions**2
    of_runs = float(scores.var(ddof=1))
    if of_questions == 0:
        return Threshold(mean, 0.0, mean, 0.0, False, level)
    freedom = (runs - 1) * float(variances.sum()) ** 2 / float((variances**2).sum())
    varies_beyond = of_runs > of_questions * _f_quantile(1 - POOLING, runs - 1, freedom)
    if varies_beyond:
        of_questions, freedom = of_runs, runs - 1
    deviation = math.sqrt(of_questions)
    predicted = deviation * math.sqrt(1 + 1 / runs)
    away = t_quantile(1 - level, freedom) * predicted
    limit = mean + away if lower_is_better else mean - away
    return Threshold(mean, deviation, limit, away + t_quantile(POWER, freedom) * predicted, varies_beyond, level)


def level_with_run_effect(level: float, ratio: float = 1.0) -> float:
    """Return how often a run is beyond the limit if whole runs vary as well, and the earlier runs do not show it.

    Few runs rarely show it: an effect as large as the noise is taken for noise in most sets of two to four runs.

    Args:
        level: as it was asked for.
        ratio: standard deviation of the effect on whole runs, divided by that of a score from the noise of its answers.
    """
    return _NORMAL.cdf(_NORMAL.inv_cdf(level) / math.sqrt(1 + ratio * ratio))


def _f_quantile(probability: float, upper: float, lower: float) -> float:
    """Return the quantile of the F distribution (Abramowitz and Stegun 1964, formula 26.6.2)."""
    share = beta_quantile(probability, upper / 2, lower / 2)
    return lower * share / (upper * (1 - share))
