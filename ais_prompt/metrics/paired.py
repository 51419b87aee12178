"""Tests of right and wrong answers to the same questions, and of several datasets at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

Key = TypeVar("Key")

LEVEL: Final = 0.05
"""How often a test may see a difference where there is none."""

POWER: Final = 0.8
"""How often a difference that is called detectable is found."""


def mcnemar_worse(worse: int, better: int) -> float:
    """Return how likely so many or more ``worse`` are among the changed samples if both directions are equally likely.

    Source: McNemar 1947, in its exact form: a binomial test of ``worse`` out of all that changed, with probability 1/2.

    Args:
        worse: samples that were right and are wrong.
        better: samples that were wrong and are right.
    """
    return _at_most(better, worse + better)


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """p-values of several tests, raised so that all together err at the level of one.

    Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    adjusted: dict[Key, float] = {}
    highest = 0.0
    for rank, key in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[key] * (len(p_values) - rank)))
        adjusted[key] = highest
    return {key: adjusted[key] for key in p_values}


def _at_most(successes: int, trials: int) -> float:
    """P(X ≤ successes) of a fair binomial, in whole numbers, so that nothing is rounded before the end."""
    ways = total = 1
    for number in range(1, successes + 1):
        ways = ways * (trials - number + 1) // number
        total += ways
    return total / 2**trials if successes >= 0 else 0.0
