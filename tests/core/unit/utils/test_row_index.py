from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils import RowIndex, row_key

VALUES = st.sampled_from([1, "1", None, "a", ["a"], {"a": 1}, {"b": [1.5]}, 2**70])


@given(st.lists(VALUES), VALUES)
def test_all_rows_of_a_value_are_found_in_their_order(values: list[object], wanted: object) -> None:
    index = RowIndex(map(row_key, values))
    assert list(index.rows(row_key(wanted))) == [row for row, value in enumerate(values) if value == wanted]


@given(st.lists(st.integers(2**64 - 3, 2**64 - 1) | st.integers(0, 2)))
def test_keys_are_never_rounded(keys: list[int]) -> None:
    index = RowIndex(keys)
    for key in keys:
        assert list(index.rows(key)) == [row for row, other in enumerate(keys) if other == key]
