"""Choose a variant on some questions, and score it on the others, of which the choice knows nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ais_prompt.extensions.variants.selection import unit_sums
from ais_prompt.extensions.variants.variant_group import Holdout
from ais_prompt.metrics import mean_interval, spread_of


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
