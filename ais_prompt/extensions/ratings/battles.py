"""Battles: two answers to a question that a judge compared, and covariates of length and style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class Battle(Struct, frozen=True):
    """A comparison of two answers to a question.

    Attributes:
        first, second: the models, in the order in which a judge saw their answers.
        points: of ``first``: 1 for a win, 0.5 for a tie, 0 for a loss.
        question: the battles about a question are drawn together.
        features: covariates, each that of ``first`` less that of ``second``.
    """

    first: str
    second: str
    points: float
    question: str
    features: tuple[float, ...] = ()


def length_control(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return the covariate of AlpacaEval's length-controlled win rate: the tanh of the standardized difference.

    Source: Dubois, Galambosi, Liang and Hashimoto 2024, "Length-Controlled AlpacaEval: A Simple Way to Debias
    Automatic Evaluators", section 3. Its coefficient there is that of a model against the baseline; here it is one for
    all models, and there is no term for the difficulty of an instruction.

    Args:
        first, second: lengths of the answers of each battle.
    """
    differences = np.asarray(first, float) - np.asarray(second, float)
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return np.tanh(differences / spread).tolist() if spread else [0.0] * len(differences)


def arena_hard_style(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> Array:
    """Return the covariates of the style control of Arena-Hard 2, standardized.

    The first is the relative difference of the lengths, ``(a - b) / (a + b)``. For the others, counts are divided by
    the length plus one; of these densities it is ``(a - b) / (a + b + 1)``. There is no prior. Each covariate is
    divided by its standard deviation over all battles; theirs is that of a sample, so theirs is smaller by a factor of
    ``sqrt(1 - 1 / battles)``, which changes no rating.

    Source: Arena-Hard-Auto, ``show_result.print_leaderboard_with_style_features``.

    Args:
        first, second: length and counts of the answers of each battle; shape (battles, 1 + counts).
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    lengths = a[:, :1] + b[:, :1]
    length = np.divide(a[:, :1] - b[:, :1], lengths, out=np.zeros_like(lengths), where=lengths > 0)
    a, b = a[:, 1:] / (a[:, :1] + 1), b[:, 1:] / (b[:, :1] + 1)
    values = np.hstack([length, (a - b) / (a + b + 1)])
    spread = values.std(axis=0)
    styles: Array = np.divide(values - values.mean(axis=0), spread, out=np.zeros_like(values), where=spread > 0)
    return styles


def records_of(battles: Sequence[Battle]) -> dict[tuple[str, str], tuple[float, int, float]]:
    """Return wins, ties and losses of each model against each other one."""
    records: dict[tuple[str, str], tuple[float, int, float]] = {}
    for one in battles:
        for own, other, points in ((one.first, one.second, one.points), (one.second, one.first, 1 - one.points)):
            wins, ties, losses = records.get((own, other), (0.0, 0, 0.0))
            tie = points == 0.5
            won, lost = (0.0, 0.0) if tie else (points, 1 - points)
            records[own, other] = (wins + won, ties + tie, losses + lost)
    return records
