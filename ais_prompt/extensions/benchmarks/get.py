"""Bring the data of benchmarks to this machine, and check that they are still the same."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ais_prompt.config.cards import LOCK, Card, cards, find_card, get_command, how_to_get
from ais_prompt.errors import DataError, StoreError
from ais_prompt.extensions.benchmarks.cards.hub import fetch, forget
from ais_prompt.extensions.benchmarks.cards.lock import (
    DataLock,
    changed_file,
    lock_changes,
    read_lock,
    row_changes,
)
from ais_prompt.extensions.benchmarks.cards.sources import find_files
from ais_prompt.extensions.benchmarks.cards.store import built, copied, install
from ais_prompt.utils.unpack import is_archive, unpack


class Brought(Struct, frozen=True):
    """What `get` did.

    Attributes:
        card: the benchmark.
        lock: its lock.
        is_new: whether anything was written; False if the data were here already.
    """

    card: Card
    lock: DataLock
    is_new: bool


def get(name: str, source: Path | None = None, *, update: bool = False) -> Brought:
    """Bring the data of a benchmark from the hub, or from a folder or archive.

    Data that are here and are those of their lock stay. A lock that is here is kept to: other rows are an error, unless
    ``update`` is given. From the hub the commit of the lock is taken.

    Args:
        name: the benchmark.
        source: the folder or archive; None is the hub.
        update: replace data and lock by what is there now.

    Raises:
        ConfigError: there is no such benchmark.
        DataError: the data cannot be brought, or are not those of the lock.
        StoreError: the disk does not take them.
    """
    card = find_card(name)
    lock = read_lock(card) if card.is_here else None
    if lock and source is None and not update and not _changed_files(card, lock):
        return Brought(card, lock, is_new=False)
    try:
        if source is None:
            brought = _from_hub(card, None if update or lock is None else lock)
        else:
            with tempfile.TemporaryDirectory(prefix="aisprompt-data-") as unpacked:
                brought = _from_files(card, source, Path(unpacked))
        folder, new = brought
        if lock and not update and (changes := lock_changes(card.data, lock, folder, new)):
            shutil.rmtree(folder)
            fix = f"to take the new data: {get_command(name)} --update"
            raise DataError(f"{name} is not what its lock says: {changes[0]}", where=str(card.data / LOCK), fix=fix)
        install(card, folder)
    except OSError as error:
        what = f"cannot write: {error.strerror or error}"
        raise StoreError(what, where=str(card.data), fix="free space there, or set AISPROMPT_DATA") from error
    return Brought(card, new, is_new=True)


def check(names: Sequence[str]) -> dict[str, list[str]]:
    """Return what is wrong with the data of benchmarks: name → a sentence for each change; empty if nothing is.

    Args:
        names: the benchmarks; none means all whose data are here.

    Raises:
        ConfigError: there is no such benchmark.
        DataError: the data of one are not here, or cannot be read.
    """
    names = names or [name for name, card in cards().items() if card.is_here and not card.made]
    return {name: _changes(find_card(name)) for name in names}


def _changes(card: Card) -> list[str]:
    lock = read_lock(card)
    found: list[str] = []
    for split in _changed_files(card, lock):
        try:
            rows = row_changes(card.data, lock, split)
        except DataError as unreadable:
            rows = [f"{split}: {unreadable.what}"]
        found += rows or [f"{split}: the file changed, its rows did not"]
    return found


def _changed_files(card: Card, lock: DataLock) -> list[str]:
    """Return the splits whose files are not those of the lock."""
    return [split for split in lock.splits if changed_file(card.data, lock, split)]


def _from_hub(card: Card, lock: DataLock | None) -> tuple[Path, DataLock]:
    if card.hub is None:
        raise DataError(f"{card.name} is not on the hub", where=card.source, fix=how_to_get(card))
    revision = lock.revision if lock and lock.kind == "hub" else None
    commit, files = fetch(card, revision or None)
    stored = built(card, files, "hub", card.hub.repo, commit)
    forget(card)
    return stored


def _from_files(card: Card, source: Path, unpacked: Path) -> tuple[Path, DataLock]:
    if not source.exists():
        raise DataError("there is no such folder or file", where=str(source), fix="check the path behind --from")
    root = source
    if is_archive(source):
        unpack(source, unpacked)
        root = unpacked
    if stored := next((one for one in (root, root / card.name) if (one / LOCK).is_file()), None):
        return copied(card, stored)
    try:
        return built(card, find_files(card, root), "files", str(source))
    except DataError as error:
        error.where = error.where.replace(str(unpacked), str(source))  # which is no longer there when this is read
        raise
