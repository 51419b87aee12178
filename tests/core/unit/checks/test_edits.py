"""Names that differ by one slip of the fingers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.checks import is_one_edit

NAMES = st.text("abc", max_size=6)


def distance(one: str, other: str) -> int:
    """Optimal string alignment distance, by its table: https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            changed = int(one[i - 1] != other[j - 1])
            best = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + changed)
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
                best = min(best, table[i - 2, j - 2] + 1)
            table[i, j] = best
    return table[len(one), len(other)]


@given(NAMES, NAMES)
def test_it_is_a_distance_of_at_most_one(one: str, other: str) -> None:
    assert is_one_edit(one, other) == (distance(one, other) <= 1)
