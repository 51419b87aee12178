"""How much of the score of the best of several variants is luck, and halves of questions that show it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SEED: Final = 0
_DRAWS: Final = 2_000
_CELLS: Final = 4_000_000
"""Numbers that are in memory at once."""


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
    """Return by how much the score of the best variant is too high on average because it was chosen by that score.

    The true means are taken to be the observed means, drawn together as far as they vary by chance; from these, scores
    are drawn with the errors that the questions show. The optimism is what the best of the drawn scores is above its
    true mean, on average.

    Sources: Efron and Morris 1973, "Stein's Estimation Rule and Its Competitors: An Empirical Bayes Approach"; Efron
    2011, "Tweedie's Formula and Selection Bias".

    Args:
        scores: more is better; shape (questions, variants).
        units: the question, or its cluster, of each row.

    Returns:
        In the unit of the scores, at least 0; 0 for fewer than two variants or units.
    """
    names = {name: number for number, name in enumerate(dict.fromkeys(units))}
    if scores.shape[1] < 2 or len(names) < 2:
        return 0.0
    means = scores.mean(axis=0)
    residuals = np.zeros((len(names), scores.shape[1]))
    np.add.at(residuals, [names[name] for name in units], (scores - means) / len(scores))
    draw = np.random.default_rng(_SEED)
    step = max(1, _CELLS // len(names))
    errors = np.concatenate(
        [
            (draw.integers(0, 2, size=(min(step, _DRAWS - start), len(names))) * 2.0 - 1) @ residuals
            for start in range(0, _DRAWS, step)
        ]
    )
    by_chance, observed = errors.var(axis=1, ddof=1).mean(), means.var(ddof=1)
    kept = max(0.0, 1 - by_chance / observed) if observed > 0 else 0.0
    true = means.mean() + kept * (means - means.mean())
    best = np.argmax(true + errors, axis=1)
    return max(0.0, float(errors[np.arange(len(errors)), best].mean()))
