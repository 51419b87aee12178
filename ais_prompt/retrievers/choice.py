"""Take the first rows of a ranking, without copies of the test row itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeAlias

from ais_prompt.errors import ConfigError
from ais_prompt.retrievers.base import ShotIds
from ais_prompt.retrievers.row_lists import RowLists
from ais_prompt.types import Sample
from ais_prompt.utils.row_index import RowIndex, row_key

OwnRows: TypeAlias = tuple[int, ...]
"""The train rows that are equal to a test row, and must not be among its examples."""


def own_rows(train: Sequence[Sample], test: Sequence[Sample], *, exclude_self: bool) -> Sequence[OwnRows]:
    """Return the train rows with the same columns and values as each test row; none unless ``exclude_self``.

    It compares content, not ids or row numbers: splits that share rows need not share their order, and every copy of a
    row in the train split would show the answer.
    """
    if not exclude_self:
        return [()] * len(test)
    index = RowIndex(row_key(sample.fields) for sample in train)
    return RowLists(index.rows(row_key(sample.fields)) for sample in test)


def take(order: Iterable[int], count: int, own: OwnRows) -> ShotIds:
    """Return the first ``count`` rows of a ranking without the test row's own; fewer if there are not so many."""
    return tuple(islice((int(row) for row in order if row not in own), count))


def check_count(count: int, argument: str) -> int:
    """Return a number of shots unchanged.

    Raises:
        ConfigError: it is negative.
    """
    if count < 0:
        raise ConfigError(f"{argument} cannot be {count}", fix=f"{argument}=0 shows no examples")
    return count


def check_enough(count: int, rows: int, argument: str, own: Iterable[OwnRows] = ()) -> None:
    """Check that the train split has enough rows for every test row.

    Raises:
        ConfigError: it has fewer than ``count``, or too few without a test row's own.
    """
    left_out = max(map(len, own), default=0)
    if count > rows - left_out:
        less = f", {left_out} of them equal to a test row" if left_out else ""
        raise ConfigError(
            f"{argument} asks for {count} examples, but the train split has {rows} rows{less}",
            fix=f"lower {argument}; check train_split and train_range of reader_cfg",
        )
