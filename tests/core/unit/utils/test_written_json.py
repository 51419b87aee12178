"""JSON of models: what is read, and what is refused in place of an odd number or a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils import MOST_LEVELS, parse_written

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_json_is_read_as_python_reads_it(value: Any) -> None:
    assert parse_written(json.dumps(value)) == value


def test_the_last_of_equal_keys_counts() -> None:
    assert parse_written('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ("{'a': 1}", "property name"),
        ("NaN", "NaN is no JSON"),
        ('{"a": [-Infinity]}', "-Infinity is no JSON"),
        ('{"a": 1e999}', "1e999 is too large"),
        ("9" * 5000, "digits"),
        ("[" * 100_000 + "]" * 100_000, "levels"),
        ('{"a": ' * 100_000 + "1" + "}" * 100_000, "levels"),
        ("[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1), "levels"),
        ("[" * 100_000, "levels"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_written(text)


def test_levels_are_counted_whatever_is_in_texts() -> None:
    deepest = json.loads("[" * MOST_LEVELS + "]" * MOST_LEVELS)
    assert parse_written(json.dumps(deepest)) == deepest
    assert parse_written(json.dumps(["["] * 1000)) == ["["] * 1000
