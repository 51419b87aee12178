"""Open files, show the end of a log, and name sheets of workbooks and the folder of all data.

Of the paths that a user names only regular files are opened, because reading a pipe or device may never end.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from ais_prompt.secrets import SECRETS

DATA: Final = "AISPROMPT_DATA"
"""Environment variable of `data_root`."""

_SHEET: Final = re.compile(r"(?P<file>.+?\.(?:xlsx|xlsm|ods))#(?P<sheet>.+)", re.IGNORECASE | re.DOTALL)
_LAST_LINES: Final = 8
_LAST_BYTES: Final = 20_000
_LINE_LENGTH: Final = 200
_KINDS: Final = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


def data_root() -> Path:
    """Return the folder of all data: of what was brought to this machine under a name."""
    return Path(os.environ.get(DATA) or "~/.cache/aisprompt/data").expanduser().absolute()


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """Return file and sheet of ``questions.xlsx#Sheet1``; the sheet is None if none is named."""
    found = _SHEET.fullmatch(str(path))
    return (Path(found["file"]), found["sheet"]) if found else (path, None)


def check_regular(path: Path) -> os.stat_result:
    """Return the status of a regular file; raise an error if a path is something else.

    Raises:
        OSError: there is no file, or it is a link to itself, pipe, socket, device or folder; the message names it.
    """
    status = path.stat()
    if stat.S_ISREG(status.st_mode):
        return status
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise OSError(errno.EINVAL, f"it is {name}, not a regular file", str(path))
    return status


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


def last_lines(log: Path, start: int = 0) -> list[str]:
    """Return the last lines of a log, cut to a readable length and without secrets.

    Args:
        log: the file.
        start: bytes at its front that are not shown.

    Raises:
        OSError: it cannot be read.
    """
    with log.open("rb") as output:
        output.seek(max(start, log.stat().st_size - _LAST_BYTES))
        text = SECRETS.hide_in_message(output.read().decode("utf-8", "replace"))
    return [line[:_LINE_LENGTH] for line in text.splitlines() if line.strip()][-_LAST_LINES:]


def open_in_folder(path: Path, flags: int, mode: int) -> int:
    """Do the same as `os.open`, but make the folder of the file if there is none.

    Raises:
        OSError: the file cannot be opened.
    """
    with suppress(FileNotFoundError):  # not looked up first: a run opens thousands of files
        return os.open(path, flags, mode)
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, flags, mode)
