"""Scores as exact fractions, so that 57 of 100 is not less than 57 %."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

LARGEST_DENOMINATOR: Final = 10_000_000
"""Two fractions with denominators up to this differ by at least 1e-14, far more than rounding errors of a float."""


def exact(value: float) -> Fraction:
    """Return the fraction that a float was rounded from.

    The mean of ``n`` values of 0 and 1 comes back as exactly ``k/n``, for up to ten million answers; so does any other
    number with such a denominator. A number without one moves by less than 1e-14.
    """
    return Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
