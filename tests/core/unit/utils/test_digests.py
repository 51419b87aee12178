from __future__ import annotations

import json
from datetime import date
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils import canonical, digest, digest_of_list, file_digest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)

# Whatever Python has: code points one by one, since `st.text` leaves out lone surrogates unless told so.
TEXTS = st.text(st.characters(exclude_categories=[]))
Kind = IntEnum("Kind", ["ONE", "TWO"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.dates() | st.binary() | st.sampled_from(Kind),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(TEXTS, inner)
        | st.dictionaries(st.integers() | st.booleans(), inner)
    ),
    max_leaves=8,
)


@given(value=ANYTHING)
def test_the_canonical_form_is_that_of_the_standard_library(value: Any) -> None:
    written = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    assert canonical(value) == written


def test_dates_are_written_as_they_stand_in_prompts() -> None:
    assert canonical({"day": date(2026, 1, 2)}) == '{"day":"2026-01-02"}'


@pytest.mark.thorough
@given(values=st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_matter(values: dict[str, object]) -> None:
    assert digest(values) == digest(dict(reversed(values.items())))


def test_different_values_differ() -> None:
    values = [1, "1", [1], {"1": 1}, None, "", "\ud800", "é", "e\u0301"]
    assert len({digest(value) for value in values}) == len(values)


def test_it_stays_the_same_for_ever() -> None:
    # Stored journals are found by it.
    assert digest({"a": [1, "ü"]}) == "ed78539db46bbb967b64b6225be6904e"


@pytest.mark.thorough
@given(values=st.lists(JSON, max_size=5), repeats=st.sampled_from([1, 400]))
def test_a_list_may_come_one_by_one(values: list[object], repeats: int) -> None:
    assert digest_of_list(iter(values * repeats)) == digest(values * repeats)


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert file_digest(tmp_path / "empty").startswith("e3b0c44298fc1c14")
