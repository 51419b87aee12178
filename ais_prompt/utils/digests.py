"""Compute digests of values and files; and find equal rows and prompts with few bytes for each."""

from __future__ import annotations

import hashlib
import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any, Final

import msgspec

_ALIKE: Final = {str, int, bool, NoneType}
"""Types that msgspec writes exactly as `json` does, only faster. Floats are written differently."""
_TEXT: Final = {str}
# Shared encoders: creating one takes as long as encoding a small value.
_FAST_ENCODER = msgspec.json.Encoder(order="sorted")
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def digest(value: Any, length: int = 32) -> str:
    """Return the first ``length`` hex digits of the SHA-256 of a value's canonical JSON."""
    return text_digest(canonical(value), length)


def canonical(value: Any) -> str:
    """Return the JSON of a value, equal for equal values: keys are sorted, without spaces.

    Values that JSON does not know are written as their `repr`-like `str`.
    """
    if _is_written_alike(value):
        with suppress(ValueError):  # a lone surrogate
            return _FAST_ENCODER.encode(value).decode()
    return _ENCODER.encode(value)


def _is_written_alike(value: Any) -> bool:
    """Return whether msgspec writes a value exactly as `json` does."""
    kind = type(value)
    if kind in _ALIKE:
        return True
    if kind is dict and _TEXT.issuperset(map(type, value)):
        values = value.values()
    elif kind is list or kind is tuple:
        values = value
    else:
        return False
    # Rows and messages hold texts and numbers only: a call for each of them would take most of the time.
    return _ALIKE.issuperset(map(type, values)) or all(map(_is_written_alike, values))


def text_digest(text: str, length: int = 32) -> str:
    """Return the first ``length`` hex digits of the SHA-256 of a text."""
    # Real data can contain lone surrogates; they must not break the digest.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def digest_of_list(values: Iterable[Any], length: int = 32) -> str:
    """Return the `digest` of a list of values without holding the list in memory."""
    found, left, separator = hashlib.sha256(b"["), iter(values), ""
    while some := list(islice(left, 1000)):
        found.update(f"{separator}{canonical(some)[1:-1]}".encode("utf-8", "surrogatepass"))
        separator = ","
    found.update(b"]")
    return found.hexdigest()[:length]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
