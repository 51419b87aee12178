"""How much of the score of the best of several variants is luck, and halves of questions that show it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

FOLDS: Final = 10
_REPEATS: Final = 20


def place_of(name: str, salt: str = "") -> float:
    """Return a number from 0 to 1, without 1, that depends on a name alone and is as good as random."""
    found = hashlib.sha256(f"{salt}\0{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(found[:7], "big") / 2**56


def is_in_half(name: str, share: float) -> bool:
    """Return whether a question, or its cluster, is in the half on which a variant is chosen.

    It depends on the name alone, so that it is the same in every run and for every variant.
    """
    return place_of(name, "holdout") < share


def optimism(scores: NDArray[np.float64], units: Sequence[str]) -> float:
    """Return by how much the score of the best variant is too high because it was chosen by that score.

    The variant is chosen on nine tenths of the questions and scored on the last tenth, for each tenth and in 20
    divisions; what that score is lower than the best score on all questions is the optimism, at least 0.

    Sources: Stone 1974, "Cross-Validatory Choice and Assessment of Statistical Predictions"; Tibshirani and Tibshirani
    2009, "A Bias Correction for the Minimum Error Rate in Cross-Validation".

    Args:
        scores: more is better; shape (questions, variants).
        units: the question, or its cluster, of each row; a unit is never divided.

    Returns:
        In the unit of the scores; 0 for fewer than two variants or units.
    """
    names = list(dict.fromkeys(units))
    if scores.shape[1] < 2 or len(names) < 2:
        return 0.0
    folds = min(FOLDS, len(names))
    total, found = scores.sum(axis=0), 0.0
    for repeat in range(_REPEATS):
        order = sorted(names, key=lambda name: place_of(name, str(repeat)))
        fold_of = {name: number % folds for number, name in enumerate(order)}
        rows = np.array([fold_of[name] for name in units])
        for fold in range(folds):
            held = scores[rows == fold]
            chosen = _best(total - held.sum(axis=0))
            found += held[:, chosen].mean(axis=1).sum()
    return max(0.0, float(total.max() - found / _REPEATS) / len(scores))


def _best(sums: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return all variants with the best sum, which differ by rounding alone."""
    return np.flatnonzero(sums >= sums.max() - 1e-9 * max(1.0, abs(float(sums.max()))))
