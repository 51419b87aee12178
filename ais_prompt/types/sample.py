"""A sample: one row of a dataset, as every later stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Sample(Struct, frozen=True):
    """One row of a split.

    Attributes:
        id: stable across runs and machines: 12 hex digits of a digest of the input columns. Rows with equal input
            columns get ``-2``, ``-3``, ... in the order of the split.
        index: row number in the split after the range of ``reader_cfg`` was applied, from 0.
        fields: all columns of the row, whether a template uses them or not.
        gold: the value of the output column; None if the dataset has none.
        row_id: an id of the same form, made from all columns. Run folders of version 1 identify samples by it.
    """

    id: str
    index: int
    fields: Mapping[str, Any]
    gold: Any = None
    row_id: str = ""
