"""Compare names that differ by one slip of the fingers."""

from __future__ import annotations


def is_one_edit(one: str, other: str) -> bool:
    """Return whether two texts are equal, or one character was added, left out, replaced, or swapped with the next.

    Source: the optimal string alignment distance of Damerau and Levenshtein, at most 1.
    """
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return (len(one) <= 1 and len(other) <= 1) or (len(one) == len(other) == 2 and one == other[::-1])
