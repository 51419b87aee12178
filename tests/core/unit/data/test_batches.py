"""Batches come back as they were stored, whichever of them is still in memory."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import BATCH_BYTES, StoredBatches, Table, store_rows

ROWS = st.lists(st.fixed_dictionaries({"text": st.text(max_size=40), "number": st.integers(-9, 9) | st.floats(0, 1)}))


def place(row: int) -> str:
    return f"row {row}"


@given(ROWS.filter(bool), st.integers(1, 200))
def test_rows_come_back_from_batches_of_any_size(rows: list[dict[str, Any]], batch_bytes: int) -> None:
    table = Table(store_rows(enumerate(rows), place, batch_bytes), ["rows"])
    assert list(table) == rows
    assert [table.row(number) for number in range(len(rows))] == rows


@given(st.lists(st.integers(1, 5), max_size=5))
def test_a_batch_that_is_too_large_is_split_and_its_parts_keep_their_order(sizes: list[int]) -> None:
    stored = StoredBatches()
    texts = [f"{number}" + "x" * size * BATCH_BYTES for number, size in enumerate(sizes)]
    for text in texts:
        stored.append(pa.RecordBatch.from_pydict({"text": ["first", text, "last"]}))
    found = [value for batch in stored for value in batch.column("text").to_pylist()]
    assert found == [value for text in texts for value in ("first", text, "last")]
    assert stored.starts[-1] == 3 * len(sizes)
