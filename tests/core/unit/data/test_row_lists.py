from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import RowLists

LISTS = st.lists(st.lists(st.integers(0, 2**40), max_size=4).map(tuple))


@given(LISTS, st.slices(8))
def test_they_are_what_a_list_of_tuples_is(lists: list[tuple[int, ...]], part: slice) -> None:
    kept = RowLists(lists)
    assert kept == lists
    assert list(kept[part]) == lists[part]
    assert [kept[row] for row in range(-len(lists), len(lists))] == lists * 2
    assert (RowLists([*lists, ()]) == lists) is False


def test_there_are_no_others() -> None:
    with pytest.raises(IndexError):
        RowLists([(1,)])[1]
