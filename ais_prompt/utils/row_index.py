"""Find rows by their content, with sixteen bytes per row."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from ais_prompt.utils.digest import digest


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
