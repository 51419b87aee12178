"""Unpack archives of other people: no path outside of the folder, no links, no more than fits."""

from __future__ import annotations

import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Final

from ais_prompt.errors import DataError

MOST_BYTES: Final = 8 * 2**30
"""Bytes of all files of an archive together, unpacked."""
MOST_FILES: Final = 200_000
_ENDINGS: Final = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_PIECE: Final = 2**20
_BROKEN: Final = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)


def is_archive(path: Path) -> bool:
    """Return whether a file is a ZIP or tar archive, compressed or not, by its name if it cannot be read as one."""
    if not path.is_file():
        return False
    return path.name.lower().endswith(_ENDINGS) or zipfile.is_zipfile(path) or _is_tar(path)


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except _BROKEN:  # it begins as a compressed file
        return False


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
    with _opened_tar(archive) as packed_tar:
        for member in packed_tar:
            if not (member.isfile() or member.isdir()):
                raise _refused(archive, f"{member.name!r} is a link or device")
            if member.isfile() and (stream := packed_tar.extractfile(member)) is not None:
                yield member.name, stream


def _opened_tar(archive: Path) -> tarfile.TarFile:
    """Open a tar archive; the package's own error for other files names each compression that it tried."""
    if not _is_tar(archive):
        raise tarfile.ReadError("it is no ZIP or tar archive, or only a part of one")
    return tarfile.open(archive)


def _refused(archive: Path, why: str) -> DataError:
    return DataError(f"the archive is not unpacked: {why}", where=str(archive), fix="use an archive that you trust")
