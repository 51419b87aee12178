"""Rows are read in batches, and their size makes no difference."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import NumberedRow, Table, store_rows
from ais_prompt.data import batches as arrow_rows
from ais_prompt.errors import DataError

SMALL = [1, 20, 30, 50]
WHOLE = 10**9

numbers = st.sampled_from([0, 1, -7, 2**53, 2**53 + 1, -(2**53) - 9, 2**63, 10**30])
fractions = st.sampled_from([0.5, 2.0, float("inf")])
texts = st.sampled_from(["", "a", "问", "\ud800"])
leaves = st.one_of(st.none(), st.booleans(), numbers, fractions, texts)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
)
plain = st.sampled_from([None, 1, 2, 3])


@st.composite
def columns(draw: st.DrawFn) -> list[Any]:
    """Values of a column: of one kind, mostly, with an odd one here and there."""
    kind = draw(
        st.sampled_from(
            [
                plain,
                st.sampled_from([1, 2.5, None, 2**53 + 1]),
                st.sampled_from(["a", "b", None]),
                st.lists(st.sampled_from([None, 1, 0.5]), max_size=2),
                st.dictionaries(st.sampled_from("abc"), st.lists(plain, max_size=2), max_size=3),
                st.lists(st.dictionaries(st.sampled_from("abc"), numbers | fractions, max_size=3), max_size=2),
                values,
            ]
        )
    )
    return draw(st.lists(kind | values if draw(st.booleans()) else kind, min_size=1, max_size=9))


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def said() -> Iterator[list[str]]:
    handler = Lines()
    arrow_rows.logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        arrow_rows.logger.removeHandler(handler)


def read(rows: list[NumberedRow], batch_bytes: int) -> tuple[Any, ...]:
    """Everything that a reader of these rows sees."""
    with said() as lines, pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow_rows, "_MEASURED", 1)
        try:
            table = Table(store_rows(rows, lambda number: f"line {number}", batch_bytes), ["rows"])
        except DataError as error:
            return error.what, error.where
        one_by_one = [table.row(number) for number in range(len(table))]
        assert repr(one_by_one) == repr(list(table))  # 1.0 is not 1 here
        return repr(one_by_one), list(table.row_ids), table.columns, lines


@pytest.mark.thorough
@given(st.data())
def test_the_size_of_batches_makes_no_difference(data: st.DataObject) -> None:
    first, second = data.draw(columns()), data.draw(columns())
    odd = data.draw(st.sets(st.integers(1, 8)))
    rows: list[dict[str, Any]] = [{"q": one, "a": two} for one, two in zip(first, second, strict=False)]
    rows = [{"q": row["q"], "b": row["a"]} if number in odd else row for number, row in enumerate(rows)]
    numbered = list(enumerate(rows, start=1))
    whole = read(numbered, WHOLE)
    for batch_bytes in SMALL:
        assert read(numbered, batch_bytes) == whole
