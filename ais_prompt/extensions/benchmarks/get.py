"""Bring the data of benchmarks to this machine, and check that they are still the same.

Archives are of other people: no path leads out of the folder, there are no links, and no more than fits is unpacked.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any, Final, cast

from msgspec import Struct

from ais_prompt.errors import DataError, StoreError
from ais_prompt.extensions.benchmarks.card import LOCK, Card, find_card, get_command, how_to_get, read_cards
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import (
    DataLock,
    changed_file,
    lock_changes,
    read_lock,
    row_changes,
)
from ais_prompt.extensions.benchmarks.cards.publisher_files import fetch, find_files, forget
from ais_prompt.extensions.benchmarks.cards.publisher_rows import changed_media
from ais_prompt.extensions.benchmarks.cards.store import built, copied, install

MOST_BYTES: Final = 8 * 2**30
"""Bytes of all files of an archive together, unpacked."""
MOST_FILES: Final = 200_000
_ENDINGS: Final = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_PIECE: Final = 2**20
_LONGEST_HEADER: Final = 2**13
"""Bytes of the headers of one entry. `tarfile` takes the square of it: of its memory, and of its time for digits."""
_MANY_DIGITS: Final = re.compile(rb"\d{100}")
_SHOWN: Final = 200
_COMPRESSED: Final[dict[bytes, Callable[..., Any]]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"\x5d\0\0": lzma.open,
}
"""First bytes of a compressed file → what opens it."""
_LONGEST_MARK: Final = max(map(len, _COMPRESSED))
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
    names = names or [name for name, card in read_cards().items() if card.is_here and not card.made]
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
            if stream is None:  # a folder
                continue
            path = PurePosixPath(name.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive or "\0" in name:
                raise _refused(archive, f"{name[:_SHOWN]!r} leads out of the folder")
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
        with _opened_tar(path):
            return True
    except _BROKEN:  # it begins as a compressed file
        return False


def _entries(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Yield name and content of each file of an archive; a folder has no content."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise _refused(archive, f"{info.filename[:_SHOWN]!r} is a link or device")
                yield info.filename, None if info.is_dir() else packed.open(info)
        return
    with _opened_tar(archive) as (packed_tar, metered):
        while (member := packed_tar.next()) is not None:
            packed_tar.members = []  # type: ignore[attr-defined]  # else it keeps them all
            packed_tar.pax_headers = {}
            if not (member.isfile() or member.isdir()):
                raise _refused(archive, f"{member.name[:_SHOWN]!r} is a link or device")
            metered.left = None
            yield member.name, packed_tar.extractfile(member) if member.isfile() else None
            metered.left = _LONGEST_HEADER


class _HeaderError(tarfile.ReadError):
    """A header of a tar archive costs too much."""


class _Metered:
    """A stream of a tar archive from which headers of a limited length are read.

    A name, a table of attributes or a map of a sparse file may say that it has gigabytes, and would be read whole.

    Attributes:
        left: bytes that may be read; None while a content is read, which `unpack` counts.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.left: int | None = _LONGEST_HEADER
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes.

        Raises:
            _HeaderError: a header is too long.
        """
        if self.left is None:
            return self._stream.read(size)
        if not 0 <= size <= self.left:
            raise _HeaderError(f"a header has more than {_LONGEST_HEADER:,} bytes")
        self.left -= size
        header = self._stream.read(size)
        if _MANY_DIGITS.search(header):
            raise _HeaderError("a header has a number of more than 100 digits")
        return header


@contextmanager
def _opened_tar(archive: Path) -> Iterator[tuple[tarfile.TarFile, _Metered]]:
    """Open a tar archive, and read its first header.

    Raises:
        TarError, OSError, EOFError, zlib.error, LZMAError: it is none, or broken.
    """
    with archive.open("rb") as raw:
        head = raw.read(_LONGEST_MARK)
    opener = next((one for mark, one in _COMPRESSED.items() if head.startswith(mark)), open)
    with opener(archive, "rb") as stream:
        metered = _Metered(stream)
        try:
            packed = tarfile.open(fileobj=cast(IO[bytes], metered), mode="r:")  # noqa: SIM115  # closed below
        except _HeaderError:
            raise
        except tarfile.ReadError:
            # The package's own error for other files names each kind of header that it tried.
            raise tarfile.ReadError("it is no ZIP or tar archive, or only a part of one") from None
        with packed:
            yield packed, metered


def _refused(archive: Path, why: str) -> DataError:
    return DataError(f"the archive is not unpacked: {why}", where=str(archive), fix="use an archive that you trust")
