"""Open files that a user names. Only regular files are allowed, because reading a pipe or device may never end."""

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
    """Raise an error unless a path is a regular file.

    Raises:
        OSError: there is no file, or it is a link to itself, pipe, socket, device or folder; the message names it.
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
