"""What the choosing retrievers have in common: taking the first rows of an order, and leaving a row's own copy out."""

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
"""The train rows that a test row must not be shown, because they are that row itself."""


def own_rows(train: Sequence[Sample], test: Sequence[Sample], *, exclude_self: bool) -> Sequence[OwnRows]:
    """For every test row the train rows with the very same columns and values; none unless ``exclude_self``.

    Content is compared, and not ids or row numbers: splits that share rows need not share their order, and a row that
    stands twice in the train split would show the answer just as well.
    """
    if not exclude_self:
        return [()] * len(test)
    index = RowIndex(row_key(sample.fields) for sample in train)
    return RowLists(index.rows(row_key(sample.fields)) for sample in test)


def take(order: Iterable[int], count: int, own: OwnRows) -> ShotIds:
    """The first rows of an order, a test row's own left out; all of them if there are fewer than ``count``."""
    return tuple(islice((int(row) for row in order if row not in own), count))


def check_count(count: int, argument: str) -> int:
    """A number of shots, as it was given.

    Raises:
        ConfigError: it is negative.
    """
    if count < 0:
        raise ConfigError(f"{argument} cannot be {count}", fix=f"{argument}=0 shows no examples")
    return count


def check_enough(count: int, rows: int, argument: str, own: Iterable[OwnRows] = ()) -> None:
    """Whether the train split has as many rows as every test row is to be shown.

    Raises:
        ConfigError: it has fewer, or too few once a test row's own are left out.
    """
    left_out = max(map(len, own), default=0)
    if count > rows - left_out:
        less = f", {left_out} of which are a test row itself" if left_out else ""
        raise ConfigError(
            f"{argument} asks for {count} examples, but the train split has {rows} rows{less}",
            fix=f"lower {argument}; check train_split and train_range of reader_cfg",
        )
