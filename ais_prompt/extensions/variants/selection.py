"""Choose the best of several variants: how much of its score is luck, or a choice on other questions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ais_prompt.extensions.variants.variant_group import Holdout
from ais_prompt.metrics import LEVEL, mean_interval, spread_of

_SEED: Final = 0
_DRAWS: Final = 2_000
_CELLS: Final = 4_000_000
"""Numbers that are in memory at once."""


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
    if scores.shape[1] < 2 or len(set(units)) < 2:
        return 0.0
    means = scores.mean(axis=0)
    residuals = unit_sums((scores - means) / len(scores), units)
    draw = np.random.default_rng(_SEED)
    step = max(1, _CELLS // len(residuals))
    errors = np.concatenate(
        [
            (draw.integers(0, 2, size=(min(step, _DRAWS - start), len(residuals))) * 2.0 - 1) @ residuals
            for start in range(0, _DRAWS, step)
        ]
    )
    by_chance, observed = errors.var(axis=1, ddof=1).mean(), means.var(ddof=1)
    kept = max(0.0, 1 - by_chance / observed) if observed > 0 else 0.0
    true = means.mean() + kept * (means - means.mean())
    best = np.argmax(true + errors, axis=1)
    return max(0.0, float(errors[np.arange(len(errors)), best].mean()))


class Exchanged(NamedTuple):
    """Differences of the best variant in the light of all differences that chance makes among equal variants.

    Attributes:
        p_values: of the best against each variant, corrected for all pairs; 1 for itself.
        critical: standard errors that the largest difference of any pair exceeds in 5 % of cases.
    """

    p_values: tuple[float, ...]
    critical: float


def exchanged(scores: NDArray[np.float64], units: Sequence[str], best: int) -> Exchanged:
    """Return how often equal variants differ as much as the best does from each other one, in any pair.

    If the variants are equally good, their scores of a question can be exchanged: each draw does so in every question
    and takes the largest t statistic of all pairs. This holds the level for few questions too, where random signs
    (`max_t`) call equal variants different in more than 5 % of cases.

    Sources: Pitman 1938, "Significance Tests Which May Be Applied to Samples from Any Populations. III"; Nichols and
    Holmes 2002, "Nonparametric Permutation Tests for Functional Neuroimaging", on the largest statistic; Chung and
    Romano 2013, "Exact and Asymptotically Robust Permutation Tests", on studentized ones.

    Args:
        scores: more is better; shape (questions, variants).
        units: the question, or its cluster, of each row; a cluster is exchanged as one.
        best: column of the best.
    """
    sums = unit_sums(scores, units)
    observed = _t_statistics(sums)[best]
    draw = np.random.default_rng(_SEED)
    largest = np.sort([_t_statistics(draw.permuted(sums, axis=1)).max() for _ in range(_DRAWS - 1)])
    reached = len(largest) - np.searchsorted(largest, observed * (1 - 1e-12))
    p_values = (1 + reached) / (1 + len(largest))
    p_values[best] = 1.0
    return Exchanged(tuple(p_values.tolist()), float(largest[int((1 - LEVEL) * _DRAWS + 1e-9)]))


def unit_sums(values: NDArray[np.float64], units: Sequence[str]) -> NDArray[np.float64]:
    """Return the sum of the rows of each unit, in the order in which units come; shape (units, columns)."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(units))}
    sums = np.zeros((len(numbers), *values.shape[1:]))
    np.add.at(sums, [numbers[name] for name in units], values)
    return sums


def _t_statistics(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the absolute t statistic of the difference of each pair of columns; 0 where nothing differs."""
    units = len(sums)
    totals, products = sums.sum(axis=0), sums.T @ sums
    squares = np.diag(products)
    differences = np.abs(totals[:, None] - totals)
    variance = (squares[:, None] + squares - 2 * products - differences**2 / units) * units / max(units - 1, 1)
    found: NDArray[np.float64] = differences / np.sqrt(np.maximum(variance, 1e-9))
    return found


def held_out(
    scores: NDArray[np.float64],
    units: Sequence[str],
    share: float,
    best: float | None,
    *,
    lower_is_better: bool = False,
) -> Holdout | None:
    """Choose on a share of the questions, by their ids, and score on the others; None if either part is too small.

    Args:
        scores: of each question and variant; shape (questions, variants).
        units: the question, or its cluster, of each row; a cluster is never divided.
        share: part of the questions on which a variant is chosen, between 0 and 1.
        best: the highest value of a score if the lowest is 0; None if it has no such ends.
        lower_is_better: whether the variant with the lowest score is chosen.
    """
    choosing = np.array([is_in_half(name, share) for name in units])
    left = [name for name, is_choosing in zip(units, choosing, strict=True) if not is_choosing]
    if not choosing.any() or len(set(left)) < 2:
        return None
    means = scores[choosing].mean(axis=0)
    chosen = int(np.argmin(means) if lower_is_better else np.argmax(means))
    values = scores[~choosing, chosen]
    mean = float(values.mean())
    deviations = unit_sums((values - mean) / len(values), left)
    binary = len(deviations) == len(values) and best == 1 and bool(np.isin(values, (0.0, 1.0)).all())
    spread = spread_of(deviations.tolist(), binary)
    assert spread is not None  # there are at least two units
    low, high = mean_interval(mean, spread, best)
    questions = tuple(zip(left, values.tolist(), strict=True))
    return Holdout(chosen, int(choosing.sum()), mean, low, high, len(values), questions)


def is_in_half(name: str, share: float) -> bool:
    """Return whether a question, or its cluster, is in the half on which a variant is chosen.

    It depends on the name alone, so that it is the same in every run and for every variant.
    """
    digest = hashlib.sha256(f"holdout\0{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56 < share
