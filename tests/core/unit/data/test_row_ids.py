from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import RowIds
from ais_prompt.utils import digest


@given(st.lists(st.sampled_from("abcdef")))
def test_equal_rows_are_counted(texts: list[str]) -> None:
    seen: Counter[str] = Counter()
    expected = []
    for text in texts:
        seen[text] += 1
        expected.append(digest({"q": text}, 12) + (f"-{seen[text]}" if seen[text] > 1 else ""))
    ids = RowIds([{"q": text} for text in texts], len(texts))
    assert list(ids) == expected
    assert [ids[row] for row in range(len(ids))] == expected


def test_an_id_has_all_its_digits() -> None:
    rows = [{"q": number} for number in range(200)]
    assert any(row_id.startswith("0") for row_id in RowIds(rows, len(rows)))
    assert list(RowIds(rows, len(rows))) == [digest(row, 12) for row in rows]
