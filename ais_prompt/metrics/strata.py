"""The uncertainty of a score of drawn questions about the score that all questions of the set would have.

The set is finite: what is not known are the answers to the questions that were not drawn. With ``n`` of ``N`` drawn the
variance of a mean is ``(1 - n / N)`` times that of ``n`` questions out of very many; in strata it is the sum of those
of the strata. Source: Cochran 1977, "Sampling Techniques", formulas 2.20 and 5.10.

Questions may depend on each other (clusters): that does not matter for the set, since each was drawn by itself.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import variance
from typing import Final

from msgspec.structs import replace

from ais_prompt.metrics.interval import pooled, spread_of
from ais_prompt.types import Spread

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
