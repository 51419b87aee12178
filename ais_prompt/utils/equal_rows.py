"""Find equal values and rows with few bytes for each, without keeping the values."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

from ais_prompt.utils.digests import digest

_BITS: Final = 2**64 - 1


class Occurrences:
    """Count how often each value occurred, with 16 to 32 bytes per value.

    A hash table of 64-bit marks with linear probing. Only values that occur again get a counter. A value is identified
    by its hash, so hashes must be well distributed: those of texts are, those of small numbers are not.

    Args:
        capacity: maximum number of values.
    """

    def __init__(self, capacity: int) -> None:
        size = 1 << (2 * capacity + 1).bit_length()
        self._marks = array("Q", bytes(8 * size))  # 0: free
        self._again: dict[int, int] = {}

    def earlier(self, value: Hashable) -> int:
        """Return how often the value occurred before, and count it."""
        mark = hash(value) & _BITS or 1
        last = len(self._marks) - 1
        place = mark & last
        while (found := self._marks[place]) not in (0, mark):
            place = (place + 1) & last
        if not found:
            self._marks[place] = mark
            return 0
        self._again[mark] = self._again.get(mark, 0) + 1
        return self._again[mark]

    @property
    def has_equal(self) -> bool:
        """Whether a value occurred more than once."""
        return bool(self._again)


def row_key(value: Any) -> int:
    """Return a 64-bit hash. Among 100,000 different values, two have the same one with a probability of about 1e-9."""
    return int(digest(value, 16), 16)


class RowIndex:
    """Find rows by their keys.

    Args:
        keys: the key of each row.
    """

    def __init__(self, keys: Iterable[int]) -> None:
        import numpy as np  # a run that counts occurrences only goes without

        unsorted = np.fromiter(keys, np.uint64)
        order = np.argsort(unsorted, kind="stable")
        self._keys = array("Q", unsorted[order].tobytes())
        self._rows = array("q", order.tobytes())

    def rows(self, key: int) -> Sequence[int]:
        """Return the rows with this key, in order."""
        first = bisect_left(self._keys, key)
        return self._rows[first : bisect_right(self._keys, key, lo=first)]
