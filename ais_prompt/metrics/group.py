"""The spread of an average over datasets, some of which may share questions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.metrics.interval import pooled
from ais_prompt.types import Spread


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
    return math.fsum(sum(some) ** 2 - sum(value * value for value in some) for some in lists if len(some) > 1)
