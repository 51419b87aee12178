"""The reader of benchmarks with a card."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ais_prompt.config.cards import Card, find_card
from ais_prompt.errors import DataError
from ais_prompt.readers.arrow.table import Table
from ais_prompt.readers.catalogue.lock import DataLock, changed_file, read_lock, split_file
from ais_prompt.readers.formats import read_file
from ais_prompt.registry import READERS
from ais_prompt.utils.text import listed


@READERS.register_module()
class CatalogDataset:
    """Read a benchmark that `aisprompt data get` brought. Nothing is ever downloaded by a run.

    The files must be those of its ``data.lock``. See `aisprompt list datasets` for the names.

    Args:
        benchmark: name of the benchmark, such as ``gsm8k``.
        only: column → value: the rows that are used, such as ``{'subject': 'astronomy'}``.

    Raises:
        ConfigError: there is no benchmark of that name.
    """

    def __init__(self, benchmark: str, only: Mapping[str, Any] | None = None) -> None:
        self._card = find_card(benchmark)
        self._only = dict(only or {})

    @property
    def card(self) -> Card:
        """Return the card of the benchmark."""
        return self._card

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits.

        Raises:
            DataError: the data are not on this machine; the fix is the command that brings them.
        """
        return tuple(self._lock.splits)

    def read(self, split: str) -> Table:
        """Return the rows of a split.

        Raises:
            DataError: the file is not that of the lock, or no row has the values of ``only``.
        """
        if error := changed_file(self._card.data, self._lock, split):
            raise error
        file = split_file(self._card.data, split)
        table = read_file(file, "parquet")
        for column, value in self._only.items():
            table = self._with(table, column, value)
        return table

    @cached_property
    def _lock(self) -> DataLock:
        return read_lock(self._card)

    def _with(self, table: Table, column: str, value: Any) -> Table:
        """Return the rows that have this value in a column."""
        if column not in table.columns:
            fix = f"columns: {listed(table.columns)}"
            raise DataError(f"{self._card.name} has no column {column!r}", where=listed(table.origins), fix=fix)
        found = Table.of_rows((row for row in table if row[column] == value), table.origins)
        if not len(found):
            known = listed(sorted({str(row[column]) for row in table}))
            raise DataError(
                f"no row of {self._card.name} has {value!r} in {column!r}",
                where=listed(table.origins),
                fix=f"values there: {known}",
            )
        return found
