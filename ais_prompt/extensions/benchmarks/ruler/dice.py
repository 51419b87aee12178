"""Random choices that are the same on every machine and with every version of Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class Dice:
    """Choose by a seed. Only `Random.random` is used: Python may change how the other methods choose, not this one.

    Args:
        seed: texts and numbers, all of which decide the choices.
    """

    def __init__(self, *seed: object) -> None:
        self._random = Random("/".join(map(str, seed))).random

    def below(self, number: int) -> int:
        """Return a whole number from 0 to below ``number``."""
        return int(self._random() * number)

    def share(self) -> float:
        """Return a number from 0 to below 1."""
        return self._random()

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[self.below(len(values))]

    def order(self, number: int) -> NDArray[np.intp]:
        """Return the numbers from 0 to below ``number`` in a random order."""
        return np.argsort([self._random() for _ in range(number)], kind="stable")

    def some(self, values: Sequence[T], number: int) -> list[T]:
        """Return so many of the values, each at most once."""
        return [values[place] for place in self.order(len(values))[:number]]

    def digits(self, number: int) -> str:
        """Return a whole number with so many digits."""
        lowest: int = 10 ** (number - 1)
        return str(lowest + self.below(9 * lowest))

    def uuid(self) -> str:
        """Return 32 hexadecimal digits in the form of a UUID."""
        digits = "".join(self.pick("0123456789abcdef") for _ in range(32))
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
