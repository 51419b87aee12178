"""Match the rows of two versions of a dataset."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.evidence.locks.drift import RowMatch, match_rows

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_a_changed_row_is_told_from_one_that_came_or_went() -> None:
    assert match_rows("abcd", "abXd") == RowMatch([("c", "X")], [], [], False)
    assert match_rows("abcd", "abd") == RowMatch([], [], ["c"], False)
    assert match_rows("abcd", "Zabcd") == RowMatch([], ["Z"], [], False)
    assert match_rows("abcd", "ZaXcd") == RowMatch([("b", "X")], ["Z"], [], False)
    assert match_rows("abc", "XYZ") == RowMatch([("a", "X"), ("b", "Y"), ("c", "Z")], [], [], False)


def test_another_order_is_no_change_of_rows() -> None:
    assert match_rows("abc", "cab") == RowMatch([], [], [], True)


@given(IDS, IDS)
def test_every_row_is_told_once(before: list[str], after: list[str]) -> None:
    found = match_rows(before, after)
    assert sorted([*found.removed, *(old for old, _ in found.changed)]) == sorted(set(before) - set(after))
    assert sorted([*found.added, *(new for _, new in found.changed)]) == sorted(set(after) - set(before))
