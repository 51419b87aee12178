"""The reader of benchmarks with a card, and ``data.lock``, by which a change of a single row is found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import msgspec
from msgspec import Struct

from ais_prompt.data import ArrowBatches, Table, read_file
from ais_prompt.errors import DataError
from ais_prompt.extensions.benchmarks.card import LOCK, Card, find_card, get_command, how_to_get
from ais_prompt.registry import READERS
from ais_prompt.utils import counted, file_digest, listed


@READERS.register_module()
class CatalogDataset:
    """Read a benchmark that `aisprompt data get` brought. Nothing is ever downloaded by a run.

    The files must be those of its ``data.lock``. See `aisprompt list datasets` for the names.

    Args:
        benchmark: name of the benchmark, such as ``gsm8k``.
        only: column → value, or list of values: the rows that are used, such as ``{'subject': 'astronomy'}``.

    Raises:
        ConfigError: there is no benchmark of that name.
    """

    reads_data_root: ClassVar = True
    """Its media are below the folder of all data."""

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
        several = (list, tuple)
        wanted = [(name, "in" if isinstance(value, several) else "=", value) for name, value in self._only.items()]
        found = pq.read_table(file, filters=wanted)
        if not found.num_rows:
            first, value = next(iter(self._only.items()))
            known = sorted(set(map(str, pq.read_table(file, columns=[first])[first].to_pylist())))
            what = f"no row of {self._card.name} has {value!r} in {first!r}"
            raise DataError(what, where=str(file), fix=f"values there: {listed(known)}")
        return Table(ArrowBatches(found.replace_schema_metadata()), [str(file)])


_SPLIT: Final = re.compile(r"\w[\w.-]*", re.ASCII)
MOST_ROWS: Final = 5
"""Changed rows that a message names."""


class SourceFile(Struct, frozen=True):
    """A file that the rows were made of: its size in bytes and its SHA-256."""

    bytes: int
    sha256: str


class SplitLock(Struct, frozen=True):
    """The stored rows of a split.

    Attributes:
        rows: their number.
        digest: of all rows and their order; it does not depend on the file.
        sha256: of the file.
    """

    rows: int
    digest: str
    sha256: str


class DataLock(Struct, frozen=True, omit_defaults=True):
    """What ``data.lock`` holds.

    Attributes:
        name: the benchmark.
        origin: the repository of the hub, or the folder or archive.
        kind: which of the two.
        revision: the commit on the hub; empty for files.
        files: the publisher's files by their paths.
        splits: the stored rows by split.
    """

    name: str
    origin: str
    kind: Literal["hub", "files"]
    files: Mapping[str, SourceFile]
    splits: Mapping[str, SplitLock]
    revision: str = ""


def split_file(folder: Path, split: str) -> Path:
    """Return the file of a split."""
    return folder / f"{split}.parquet"


def ids_file(folder: Path, split: str) -> Path:
    """Return the file with the ids of the rows of a split, one a line."""
    return folder / f"{split}.rows"


def read_lock(card: Card, folder: Path | None = None) -> DataLock:
    """Read the lock of a benchmark.

    Args:
        card: the benchmark.
        folder: the folder of its data; None is that of this machine.

    Raises:
        DataError: its data are not here, and the fix is the command that brings them; or the lock cannot be read.
    """
    if card.made:
        fix = f"run one of its configs, which `aisprompt describe {card.name}` lists"
        raise DataError(f"{card.name} has no data to get: its rows are made when they are read", fix=fix)
    file = (folder or card.data) / LOCK
    if not file.is_file():
        raise DataError(f"the data of {card.name} are not on this machine", where=str(card.data), fix=how_to_get(card))
    fix = f"remove {file.parent}, then {how_to_get(card)}"
    try:
        lock = msgspec.json.decode(file.read_bytes(), type=DataLock)
    except (OSError, msgspec.MsgspecError) as error:
        raise DataError(f"the lock cannot be read: {error}", where=str(file), fix=fix) from None
    # The folder may be from somebody else, and the names of splits become names of files.
    if wrong := [split for split in lock.splits if not _SPLIT.fullmatch(split)]:
        raise DataError(f"the lock names a split that is no name: {wrong[0]!r:.80}", where=str(file), fix=fix)
    return lock


def changed_file(folder: Path, lock: DataLock, split: str) -> DataError | None:
    """Return the error for a stored file that is not that of the lock; None if it is."""
    file = split_file(folder, split)
    name = lock.name
    if not file.is_file():
        return DataError(f"a file of {name} is missing", where=str(file), fix=get_command(name))
    if file_digest(file) != lock.splits[split].sha256:
        fix = f"aisprompt data check {name} names the rows; {get_command(name)} brings the data of the lock again"
        return DataError(f"the data of {name} are not those of its lock", where=str(file), fix=fix)
    return None


def row_changes(folder: Path, lock: DataLock, split: str) -> list[str]:
    """Return what differs between the stored rows of a split and its lock, a sentence for each change.

    Raises:
        DataError: the file cannot be read.
    """
    table = read_file(split_file(folder, split), "parquet")
    if table.digest == lock.splits[split].digest:
        return []
    return changes_between(stored_ids(folder, split), list(table.row_ids), split)


def lock_changes(old: Path, lock: DataLock, new: Path, other: DataLock) -> list[str]:
    """Return what differs between the data of two locks, a sentence for each change.

    Args:
        old, new: the folders of the data.
        lock, other: their locks.
    """
    found = [f"the split {split!r} is in one of them only" for split in lock.splits.keys() ^ other.splits.keys()]
    for split in lock.splits.keys() & other.splits.keys():
        if lock.splits[split].digest != other.splits[split].digest:
            found += changes_between(stored_ids(old, split), stored_ids(new, split), split)
    return found


def stored_ids(folder: Path, split: str) -> list[str]:
    """Return the ids of the rows when they were stored; empty if their file is gone."""
    file = ids_file(folder, split)
    return file.read_text("ascii").splitlines() if file.is_file() else []


def changes_between(old: Sequence[str], new: Sequence[str], split: str) -> list[str]:
    """Return a sentence for each row that is not what it was; the first `MOST_ROWS`, and how many more.

    Args:
        old, new: the ids of the rows.
        split: their split.
    """
    if not old:
        return [f"{split}: the rows changed; the list of their ids is gone, so it is not known which"]
    if len(old) == len(new):
        found = [f"row {row} changed" for row, (before, now) in enumerate(zip(old, new, strict=True)) if before != now]
    else:
        known, now_known = set(old), set(new)
        found = [f"{counted(len(old), 'row')} became {len(new):,}"]
        found += [f"row {row} is gone" for row, one in enumerate(old) if one not in now_known]
        found += [f"row {row} is new" for row, one in enumerate(new) if one not in known]
    more = [f"… and {len(found) - MOST_ROWS:,} more"] if len(found) > MOST_ROWS else []
    return [f"{split}: {change}" for change in [*found[:MOST_ROWS], *more]]
