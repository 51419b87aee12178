"""Opening files that a user names: only regular files, so that no read blocks or never ends."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import BinaryIO, Final

_KINDS: Final = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


def check_regular(path: Path) -> None:
    """Refuse what is not a regular file.

    Raises:
        OSError: there is nothing, a link that leads to itself, or a pipe, socket, device or folder, which is named.
    """
    mode = path.stat().st_mode
    for is_kind, name in _KINDS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, f"it is {name}, not a regular file", str(path))


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        OSError: as `check_regular`, or it cannot be read.
    """
    check_regular(path)
    return path.open("rb")


def read_regular(path: Path) -> bytes:
    """Read the whole of a regular file.

    Raises:
        OSError: as `open_regular`.
    """
    with open_regular(path) as stream:
        return stream.read()
