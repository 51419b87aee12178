"""The reader of benchmarks with a card."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ais_prompt.config.cards import Card, find_card
from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.cards.lock import DataLock, changed_file, read_lock, split_file
from ais_prompt.readers.batches import ArrowBatches
from ais_prompt.readers.formats import read_file
from ais_prompt.readers.table import Table
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
        return self._matching(file) if self._only else read_file(file, "parquet")

    @cached_property
    def _lock(self) -> DataLock:
        return read_lock(self._card)

    def _matching(self, file: Path) -> Table:
        """Return the rows that have the values of ``only``.

        Raises:
            DataError: there is no such column, or no such row.
        """
        import pyarrow.parquet as pq

        columns = pq.read_schema(file).names
        for column in self._only:
            if column not in columns:
                fix = f"columns: {listed(columns)}"
                raise DataError(f"{self._card.name} has no column {column!r}", where=str(file), fix=fix)
        found = pq.read_table(file, filters=[(column, "=", value) for column, value in self._only.items()])
        if not found.num_rows:
            first, value = next(iter(self._only.items()))
            known = sorted(set(map(str, pq.read_table(file, columns=[first])[first].to_pylist())))
            what = f"no row of {self._card.name} has {value!r} in {first!r}"
            raise DataError(what, where=str(file), fix=f"values there: {listed(known)}")
        return Table(ArrowBatches(found.replace_schema_metadata()), [str(file)])
