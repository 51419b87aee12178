"""Bring the data of benchmarks to this machine, and check that they are still the same.

Archives are of other people: no path leads out of the folder, there are no links, and no more than fits is unpacked.
"""

from __future__ import annotations

import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Final

from msgspec import Struct

from ais_prompt.config.cards import LOCK, Card, cards, find_card, get_command, how_to_get
from ais_prompt.errors import DataError, StoreError
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import (
    DataLock,
    changed_file,
    lock_changes,
    read_lock,
    row_changes,
)
from ais_prompt.extensions.benchmarks.cards.publisher_files import fetch, find_files, forget
from ais_prompt.extensions.benchmarks.cards.store import built, copied, install
from ais_prompt.extensions.benchmarks.cards.visual_rows import changed_media

MOST_BYTES: Final = 8 * 2**30
"""Bytes of all files of an archive together, unpacked."""
MOST_FILES: Final = 200_000
_ENDINGS: Final = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_PIECE: Final = 2**20
_BROKEN: Final = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)


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


def is_archive(path: Path) -> bool:
    """Return whether a file is a ZIP or tar archive, compressed or not, by its name if it cannot be read as one."""
    if not path.is_file():
        return False
    return path.name.lower().endswith(_ENDINGS) or zipfile.is_zipfile(path) or _is_tar(path)


def unpack(archive: Path, folder: Path, *, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> None:
    """Unpack a ZIP or tar archive into a folder that is empty.

    The bytes are counted while they are written: what an archive says about its size is not believed.

    Raises:
        DataError: an entry leads out of the folder, is a link or device, or appears twice; the archive is larger than
            allowed or broken.
    """
    left = most_bytes
    try:
        for number, (name, stream) in enumerate(_entries(archive), 1):
            if number > most_files:
                raise _refused(archive, f"it has more than {most_files:,} files")
            path = PurePosixPath(name.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive or "\0" in name:
                raise _refused(archive, f"{name!r} leads out of the folder")
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with stream, target.open("xb") as out:
                while piece := stream.read(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        raise _refused(archive, f"it is larger than {most_bytes:,} bytes")
                    out.write(piece)
    except FileExistsError as error:
        raise _refused(archive, f"two entries are the file {Path(str(error.filename)).name}") from None
    except _BROKEN as error:
        fix = "copy or download it again"
        raise DataError(f"the archive cannot be unpacked: {error}", where=str(archive), fix=fix) from error


def _changes(card: Card) -> list[str]:
    lock = read_lock(card)
    found = changed_media(card.data)
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


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except _BROKEN:  # it begins as a compressed file
        return False


def _entries(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield name and content of each file of an archive."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise _refused(archive, f"{info.filename!r} is a link or device")
                if not info.is_dir():
                    yield info.filename, packed.open(info)
        return
    # The package's own error for other files names each compression that it tried.
    if not _is_tar(archive):
        raise tarfile.ReadError("it is no ZIP or tar archive, or only a part of one")
    with tarfile.open(archive) as packed_tar:
        for member in packed_tar:
            if not (member.isfile() or member.isdir()):
                raise _refused(archive, f"{member.name!r} is a link or device")
            if member.isfile() and (stream := packed_tar.extractfile(member)) is not None:
                yield member.name, stream


def _refused(archive: Path, why: str) -> DataError:
    return DataError(f"the archive is not unpacked: {why}", where=str(archive), fix="use an archive that you trust")
