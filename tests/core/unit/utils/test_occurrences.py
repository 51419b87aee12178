from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils import Occurrences


@given(st.lists(st.text("abc", max_size=2) | st.tuples(st.text("ab", max_size=1)), max_size=40))
def test_values_are_counted_in_their_order(values: list[object]) -> None:
    seen: Counter[object] = Counter()
    counted = Occurrences(len(values))
    for value in values:
        assert counted.earlier(value) == seen[value]
        seen[value] += 1


def test_a_full_table_still_finds_its_values() -> None:
    counted = Occurrences(1000)
    assert {counted.earlier(f"value {number}") for number in range(1000)} == {0}
    assert {counted.earlier(f"value {number}") for number in range(1000)} == {1}
