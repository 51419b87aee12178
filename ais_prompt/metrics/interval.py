"""Intervals of means: over all questions, over drawn questions, and of averages over datasets.

Where questions were drawn, the set is finite: what is not known are the answers to the questions that were not drawn.
With ``n`` of ``N`` drawn the variance of a mean is ``(1 - n / N)`` times that of ``n`` questions out of very many; in
strata it is the sum of those of the strata. Source: Cochran 1977, "Sampling Techniques", formulas 2.20 and 5.10.

Questions may depend on each other (clusters): that does not matter for the set, since each was drawn by itself.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist, variance
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.metrics.distributions import gamma_quantile, t_quantile
from ais_prompt.types import Spread

Z: Final = NormalDist().inv_cdf(0.975)
"""Standard errors on either side that hold 95 % of a normal distribution: 1.96."""

_FEWEST_FREEDOM: Final = 3.0
_FEWEST_ANSWERS: Final = 1e-6
"""An effective number as low as this says nothing: the interval is all from 0 to 1."""
_FREEDOM_PER_KURTOSIS: Final = 4.0
"""Twice the textbook's 2: a part of the doubt is in the shape of Wilson's interval already. Chosen by simulation, see
``bench.statistics``."""
_MOST_FREEDOM: Final = 1e9


def spread_of(
    deviations: Sequence[float],
    binary: bool = False,
    largest: float | None = None,
    least: float = 0.0,
    clustered: bool = False,
) -> Spread | None:
    """Return the spread of a mean from what each unit adds to it.

    The degrees of freedom follow the kurtosis, so that a few outliers, such as the two questions that were not answered
    perfectly, are not taken for a reliable variance. Source: Satterthwaite 1946, "An Approximate Distribution of
    Estimates of Variance Components", with the fourth moment as found.

    Args:
        deviations: of each unit from the mean, divided by the number of all questions; they add up to 0.
        binary: every unit is one question with 0 or 1.
        largest: as `largest_variance` returns it. The interval is then hardly wider than that of right and wrong
            answers, and values near both ends, whose kurtosis is low, have more degrees of freedom than units.
        least: a variance that the mean has at least; it counts where ``largest`` is known.
        clustered: the units are clusters. They have the textbook's degrees of freedom, and no more: few clusters that
            are alike by chance say little of how much clusters vary.

    Returns:
        None of fewer than two units.
    """
    units = len(deviations)
    if units < 2:
        return None
    squares = math.fsum(value * value for value in deviations)
    variance = squares * units / (units - 1)
    if binary or not squares:
        return Spread(variance, units)
    kurtosis = units * math.fsum((value * value / squares) ** 2 for value in deviations)
    freedom = (2 if clustered else _FREEDOM_PER_KURTOSIS) * units / max(kurtosis - 1, 0.5)
    freedom = min(max(freedom, _FEWEST_FREEDOM), units - 1)
    if largest is not None:
        if not clustered:
            textbook = 2 * units / max(kurtosis - 1, 1 / _MOST_FREEDOM)
            freedom = min(max(freedom, textbook, _freedom_for(math.sqrt(largest / variance))), _MOST_FREEDOM)
        variance = max(variance, min(least, largest))
    return Spread(variance, units, freedom)


def largest_variance(mean: float, best: float | None, shares: Iterable[float]) -> float | None:
    """Return the variance that a mean would have if every value was 0 or ``best``.

    No values between them vary more. Source: Bhatia and Davis 2000, "A Better Bound on the Variance".

    Args:
        mean: of the values.
        best: the largest value; None if there is none.
        shares: of each independent unit in the mean; they add up to 1.

    Returns:
        None if the values have no bounds.
    """
    if best is None or not 0 <= mean <= best:
        return None
    return mean * (best - mean) * math.fsum(share * share for share in shares)


def _freedom_for(wider: float) -> float:
    """Return the degrees of freedom at which Student's quantile is so many times that of the normal distribution.

    The first term of the expansion in Abramowitz and Stegun 1964, formula 26.7.5.
    """
    return (Z * Z + 1) / (4 * (wider - 1)) if wider > 1 else _MOST_FREEDOM


def pooled(spreads: Iterable[tuple[float, Spread]]) -> Spread:
    """Return the spread of a weighted sum of independent means.

    Args:
        spreads: the weight of each mean, and its spread.
    """
    parts = [(weight * weight, spread) for weight, spread in spreads]
    variance = math.fsum(square * spread.variance for square, spread in parts)
    units = 1 / math.fsum(square / spread.units for square, spread in parts)
    doubt = math.fsum((square * spread.variance) ** 2 / spread.freedom for square, spread in parts if spread.freedom)
    return Spread(variance, units, max(variance**2 / doubt, _FEWEST_FREEDOM) if doubt else None)


def mean_interval(mean: float, spread: Spread, best: float | None) -> tuple[float, float]:
    """Return the 95 % interval of a mean.

    A mean between 0 and ``best`` has Wilson's interval for as many right and wrong answers as would make it vary as
    much as it does. Other means have that of Student's t.

    Sources: Kish 1965, "Survey Sampling", on the effective number; Franco, Little, Louis and Slud 2019, "Comparative
    Study of Confidence Intervals for Proportions in Complex Sample Surveys", on Wilson's interval with it.
    """
    wider = 1.0 if spread.freedom is None else t_quantile(0.975, spread.freedom) / Z
    if best is None or not 0 <= mean <= best:
        half = Z * wider * spread.stderr
        return mean - half, mean + half
    share = mean / best
    possible = share * (1 - share)
    # Perfect answers do not vary; then the questions count as one answer each, whatever their repeats.
    varies = possible > 0 and spread.variance > 0
    effective = possible / (spread.variance / best**2) / wider**2 if varies else spread.units
    effective = max(effective, _FEWEST_ANSWERS)
    low, high = wilson_interval(share * effective, effective)
    return low * best, high * best


def wilson_interval(right: float, n: float) -> tuple[float, float]:
    """Return the modified score interval of a share of ``n`` answers, each of which is right or wrong.

    It is within 0 and 1, and says something of few samples too, even if all of them are right. With one to three right
    or wrong answers the score interval would cover the truth in as little as 84 %; its end is then that of a Poisson
    distribution, which keeps 90 %.

    Sources: Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference"; Brown, Cai and
    DasGupta 2001, "Interval Estimation for a Binomial Proportion", section 4.1.1 on the modification.

    Args:
        right: 0 to ``n``; need not be whole.
        n: above 0; need not be whole.
    """
    share = min(right / n, 1.0)
    centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    # The ends touch 0 and 1 exactly there; rounding may miss them.
    low = 0.0 if right <= 0 else min(centre - half, _poisson_end(right, n))
    high = 1.0 if right >= n else max(centre + half, 1 - _poisson_end(n - right, n))
    return max(low, 0.0), min(high, 1.0)


def _poisson_end(events: float, n: float) -> float:
    """Return the lower end of a share with few events; infinite if they are not few."""
    few = 2.5 if n <= 50 else 3.5
    return gamma_quantile(0.05, events) / n if events < few else math.inf


class Part(Struct, frozen=True):
    """One dataset of a group.

    Attributes:
        weight: its share of the average; the shares of a group add up to 1.
        mean: its score.
        spread: of its score.
        questions: name of each question or cluster, and its value; empty if the score is no mean over questions.
    """

    weight: float
    mean: float
    spread: Spread
    questions: Sequence[tuple[str, float]] = ()


def group_spread(parts: Sequence[Part]) -> Spread:
    """Return the spread of the weighted sum of the parts' means.

    Parts vary together as far as they have questions in common: an easy question is easy in both. The variance of
    the sum is that of independent parts, and twice the covariance of each pair.

    Args:
        parts: each dataset once.
    """
    spread = pooled((part.weight, part.spread) for part in parts)
    deviations: defaultdict[str, list[float]] = defaultdict(list)
    amounts: defaultdict[str, list[float]] = defaultdict(list)
    for part in parts:
        share = part.weight / len(part.questions) if part.questions else 0.0
        deviation: defaultdict[str, float] = defaultdict(float)
        amount: defaultdict[str, float] = defaultdict(float)
        for name, value in part.questions:
            deviation[name] += share * (value - part.mean)
            amount[name] += share
        for name in deviation:
            deviations[name].append(deviation[name])
            amounts[name].append(amount[name])
    return replace(
        spread,
        variance=max(spread.variance + _twice_shared(deviations.values()), 0.0),
        units=1 / (1 / spread.units + _twice_shared(amounts.values())),
    )


def _twice_shared(lists: Iterable[Sequence[float]]) -> float:
    """Return the sum of a * b over all ordered pairs of different entries of each list."""
    return math.fsum(
        math.fsum(some) ** 2 - math.fsum(value * value for value in some) for some in lists if len(some) > 1
    )


_OVERALL: Final = 4
"""For how many questions of a stratum the variance over all strata counts. Chosen by simulation, see
``bench.statistics_draws``."""
_BOUND: Final = 1.0
"""For how many questions the variance of right and wrong answers with the same mean counts in that over all strata.
Chosen by simulation, see ``bench.statistics_draws few``."""
_ALL: Final = 1e12
"""Units of a stratum of which every question was drawn."""


def stratum_weights(strata: Sequence[str], sizes: Mapping[str, int]) -> list[float] | None:
    """Return how many questions of the set each drawn question represents; None if it is the same for all.

    Args:
        strata: of each question of the mean.
        sizes: stratum → questions in it, drawn or not.
    """
    counts = Counter(strata)
    weights = {name: sizes[name] / count for name, count in counts.items()}
    return [weights[name] for name in strata] if len(set(weights.values())) > 1 else None


def drawn_spread(
    deviations: Sequence[float],
    strata: Sequence[str],
    sizes: Mapping[str, int],
    *,
    binary: bool = False,
    largest: float | None = None,
) -> Spread | None:
    """Return the spread of a mean over drawn questions, about the mean over all; None for fewer than two questions.

    Args:
        deviations: what each question adds to the mean; they add up to 0.
        strata: of each question.
        sizes: stratum → questions in it, drawn or not.
        binary: as in `spread_of`; it counts where there is one stratum.
        largest: as in `spread_of`.
    """
    if len(deviations) < 2:
        return None
    of_stratum: defaultdict[str, list[float]] = defaultdict(list)
    for name, deviation in zip(strata, deviations, strict=True):
        of_stratum[name].append(deviation)
    if len(of_stratum) == 1:
        n = len(deviations)
        left = max(1 - n / sizes[strata[0]], 0.0)
        spread = spread_of([one * math.sqrt(left) for one in deviations], binary, largest)
        return None if spread is None else replace(spread, units=n / left if left else _ALL)
    whole = sum(sizes[name] for name in of_stratum)
    parts = []
    for name, own in of_stratum.items():
        share = sizes[name] / whole
        parts.append((share, sizes[name], [one * len(own) / share for one in own]))
    overall = math.fsum(share * math.fsum(one * one for one in own) / len(own) for share, _, own in parts)
    if largest is not None:  # a few questions that are alike by luck say little of how much others differ
        right_or_wrong = largest / math.fsum(share * share / len(own) for share, _, own in parts)
        known = len(deviations) - 1
        overall = (known * overall + _BOUND * right_or_wrong) / (known + _BOUND)
    return pooled(
        (share, stratum_spread(variance(own) if len(own) > 1 else 0.0, len(own), size, overall))
        for share, size, own in parts
    )


def stratum_spread(own: float, n: int, size: int, overall: float) -> Spread:
    """Return the spread of the mean of a stratum about the mean of all of its questions.

    Few questions say little of their variance, and one nothing. So it is drawn towards the variance over all strata,
    which is not smaller in the mean, as if so many more questions had shown that.

    Args:
        own: variance of the values of the drawn questions; of one question, any number.
        n: how many questions were drawn.
        size: questions of the stratum, drawn or not.
        overall: variance of the values over all strata.
    """
    left = max(1 - n / size, 0.0)
    shrunk = ((n - 1) * own + _OVERALL * overall) / (n - 1 + _OVERALL)
    return Spread(shrunk * left / n, n / left if left else _ALL, n - 1 + _OVERALL)


def of_whole_set(
    interval: tuple[float, float] | None, value: float, drawn: int, population: int
) -> tuple[float, float] | None:
    """Return the interval of a metric that is no mean, such as BLEU, about its value for all questions.

    Both sides become shorter by the correction for a finite set; strata are left out, which makes it no shorter than
    it may be.
    """
    if interval is None:
        return None
    factor = math.sqrt(max(1 - drawn / population, 0.0))
    return value - (value - interval[0]) * factor, value + (interval[1] - value) * factor
