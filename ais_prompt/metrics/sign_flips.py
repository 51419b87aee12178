"""The sign-flip test of paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_EXACT: Final = 14
"""Up to this many differences, all combinations of signs are enumerated (16,384)."""
DRAWS: Final = 9_999
SEED: Final = 0
_FEW: Final = 32
"""Up to this many different magnitudes, the number of signs is drawn instead of each sign."""
_CELLS: Final = 4_000_000
"""Number of signs in memory at once."""


class Tails(NamedTuple):
    """p-values of the two one-sided tests.

    Attributes:
        worse: probability of a sum as low if the differences are symmetric around 0.
        better: probability of a sum as high.
    """

    worse: float
    better: float

    @property
    def two_sided(self) -> float:
        """The p-value for either direction."""
        return min(1.0, 2 * min(self))


def sign_flips(differences: Sequence[float]) -> Tails:
    """Return the probability of a sum as extreme if each difference is equally likely to have the other sign.

    Up to `MOST_EXACT` differences other than 0 have all combinations of signs; more have 9,999 random ones, always the
    same, and the observed one is counted with them. The test assumes no distribution. Where each sample is right or
    wrong it is McNemar's exact test.

    Source: Fisher 1935, "The Design of Experiments", section 21; Phipson and Smyth 2010, "Permutation P-values Should
    Never Be Zero".

    Args:
        differences: one for each independent unit.
    """
    values = np.asarray(differences, dtype=np.float64)
    changed = values[values != 0]
    if not len(changed):
        return Tails(1.0, 1.0)
    total = float(changed.sum())
    tolerance = 1e-12 * float(np.abs(changed).sum())  # sums of the same numbers in another order are equal
    exact = len(changed) <= MOST_EXACT
    sums = _all_sums(changed) if exact else _drawn_sums(np.abs(changed))
    itself = 0 if exact else 1
    low = int((sums <= total + tolerance).sum()) + itself
    high = int((sums >= total - tolerance).sum()) + itself
    return Tails(low / (len(sums) + itself), high / (len(sums) + itself))


def _all_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _drawn_sums(magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
    draw = np.random.default_rng(SEED)
    different, counts = np.unique(magnitudes, return_counts=True)
    if len(different) <= _FEW:
        ups = draw.binomial(counts, 0.5, size=(DRAWS, len(counts)))
        sums: NDArray[np.float64] = (2.0 * ups - counts) @ different
        return sums
    found = []
    rows = max(_CELLS // len(magnitudes), 1)
    for start in range(0, DRAWS, rows):
        size = min(rows, DRAWS - start)
        bits = draw.integers(0, 256, size=(size, -(-len(magnitudes) // 8)), dtype=np.uint8)
        positive = np.unpackbits(bits, axis=1, count=len(magnitudes))
        found.append(2 * (positive @ magnitudes) - magnitudes.sum())
    return np.concatenate(found)
