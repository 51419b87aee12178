"""Ranges as texts mean what they mean to Python, whose own evaluation is the judge here."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import select
from ais_prompt.errors import ConfigError

SIZES = st.integers(0, 30)
BOUNDS = st.one_of(st.just(""), st.integers(-40, 40).map(str))
STEPS = st.one_of(st.just(""), st.integers(-5, 5).filter(bool).map(str))
BLANKS = st.sampled_from(["", " ", "  "])


@st.composite
def slices(draw: st.DrawFn) -> str:
    parts = [draw(BOUNDS), draw(BOUNDS)] + ([draw(STEPS)] if draw(st.booleans()) else [])
    return "[" + ":".join(draw(BLANKS) + part + draw(BLANKS) for part in parts) + "]"


@given(st.lists(slices(), min_size=1, max_size=3), SIZES)
def test_slices_one_after_the_other(brackets: list[str], size: int) -> None:
    text = "".join(brackets)
    assert list(select(text, size)) == eval(f"rows{text}", {"rows": list(range(size))})


@given(slices(), st.data(), st.integers(1, 30))
def test_a_slice_and_rows_by_number(first: str, data: st.DataObject, size: int) -> None:
    rows = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=5))
    text = f"{first} + {rows}"
    assert list(select(text, size)) == eval(f"rows{text}", {"rows": list(range(size))})


@given(st.text(alphabet="[]:,+- 0123456789abc'()", max_size=20), SIZES)
def test_no_text_brings_it_down_or_names_a_row_that_is_not_there(text: str, size: int) -> None:
    try:
        rows = select(text, size)
    except ConfigError:
        return
    assert all(0 <= row < size for row in rows)


@given(st.one_of(st.integers(-5, 200), st.floats(-1, 1)), st.integers(0, 150))
def test_numbers_take_distinct_rows(wanted: float, size: int) -> None:
    rows = list(select(wanted, size))
    assert len(set(rows)) == len(rows)
    if 0 < wanted < 1:
        assert len(rows) == int(wanted * size)
    elif 0 < wanted < size:
        assert len(rows) == wanted
    else:
        assert rows == list(range(size))
