"""A row of data, as every later stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Sample(Struct, frozen=True):
    """One row of a split.

    Attributes:
        id: stable across runs and machines: 12 hex digits of a digest of the input columns; rows with equal ones get
            ``-2``, ``-3``, ... in the order of the split.
        index: row number in the split after the range of ``reader_cfg`` was applied, from 0.
        fields: every column of the row, used in a template or not.
        gold: the value of the output column; None if the dataset has none.
        row_id: the same of all columns. Version 1 of run folders knows samples by it.
    """

    id: str
    index: int
    fields: Mapping[str, Any]
    gold: Any = None
    row_id: str = ""
