"""Temporary files and folders, and the removal of those that killed processes left behind.

The owner holds a kernel lock (flock), which is released when its process ends, kill -9 included. So a file without a
lock is a leftover. Process ids are not needed. Other machines that share the file system may not see the lock, so their
files count as leftovers only after a day. The name of a file contains its machine.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from ais_prompt.utils.digests import text_digest
from ais_prompt.utils.files import open_in_folder

_FOLDER_PREFIX: Final = "aisprompt-"
_OWN_NAME: Final = re.compile(r"\..+\.(\d+|[0-9a-f]{8}-[0-9a-f]{8})\.tmp|aisprompt-([0-9a-f]{8}-)?\w{8}")
"""Names of this version, and of earlier ones: with a process id, or without a machine."""
_DAY_SECONDS: Final = 86_400


@contextmanager
def temporary_file(target: Path) -> Iterator[int]:
    """Create an empty file beside ``target``, ``.NAME.….tmp``, and rename it to ``target`` at the end.

    If the body raises, the file is removed. The folder is made if needed; files that killed processes left in it are
    removed first.

    Yields:
        The descriptor of the file, to be written.

    Raises:
        OSError: it cannot be made or renamed, or ``target`` is a device, a pipe or a folder.
    """
    with suppress(FileNotFoundError):
        mode = target.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        if not stat.S_ISREG(mode):  # a rename would replace a device by a file, for all programs
            raise OSError(errno.EINVAL, "it is there, and is not a regular file", str(target))
    _sweep(str(target.parent), ".*.tmp")

    def made() -> tuple[int, Path]:
        path = target.with_name(f".{target.name}.{_this_machine()}-{secrets.token_hex(4)}.tmp")
        return open_in_folder(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), path

    descriptor, path = _claimed(made)
    try:
        yield descriptor
        path.replace(target)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Create a folder in ``TMPDIR``, and remove it at the end. The first call also removes leftovers there.

    Raises:
        OSError: it cannot be made.
    """
    _sweep(tempfile.gettempdir(), f"{_FOLDER_PREFIX}*")

    def made() -> tuple[int, Path]:
        path = Path(tempfile.mkdtemp(prefix=f"{_FOLDER_PREFIX}{_this_machine()}-"))
        return os.open(path, os.O_RDONLY), path

    descriptor, path = _claimed(made)
    try:
        yield str(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Remove temporary files and folders of this program whose process has ended. No error is raised."""
    for path in filter(lambda path: _OWN_NAME.fullmatch(path.name), paths):
        with suppress(OSError):  # removed by another process, or not ours to open
            _remove_if_left(path)


@cache
def _sweep(place: str, pattern: str) -> None:
    """Remove leftovers, once per process and place, because a folder may get thousands of files."""
    remove_leftovers(Path(place).glob(pattern))


def _remove_if_left(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        here = f"{_this_machine()}-" in path.name
        is_old = time.time() - found.st_mtime > _DAY_SECONDS
        if found.st_uid != os.geteuid() or not (here or is_old) or not _lock(descriptor):
            return
        if stat.S_ISDIR(found.st_mode):
            shutil.rmtree(path)
        elif stat.S_ISREG(found.st_mode):
            path.unlink()
    finally:
        os.close(descriptor)


def _claimed(made: Callable[[], tuple[int, Path]]) -> tuple[int, Path]:
    """Create a file or folder and lock it. Repeat if another process removed it as a leftover in between."""
    while True:
        descriptor, path = made()
        with suppress(FileNotFoundError):
            try:
                is_locked = _lock(descriptor)
            except OSError:  # a file system without locks: nothing is removed there
                is_locked = True
            if is_locked and path.stat().st_ino == os.fstat(descriptor).st_ino:
                return descriptor, path
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file or folder until it is closed; False if another process has it.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        import fcntl
    except ImportError as error:  # Windows
        raise OSError("no flock") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@cache
def _this_machine() -> str:
    return text_digest(socket.gethostname(), 8)
