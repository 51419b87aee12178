"""A row of data, as every later stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Sample(Struct, frozen=True):
    """One row of a split.

    Attributes:
        id: stable across runs and machines: a digest of the row's content, with a counter for equal rows.
        index: row number in the split after the range of ``reader_cfg`` was applied, from 0.
        fields: every column of the row, used in a template or not.
        gold: the value of the output column; None if the data set has none.
    """

    id: str
    index: int
    fields: Mapping[str, Any]
    gold: Any = None
