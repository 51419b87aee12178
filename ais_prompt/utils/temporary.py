"""Temporary files and folders, and sequences larger than memory, whose data is in such a file.

The owner of a file holds a kernel lock (flock), which is released when its process ends, kill -9 included. So a file
without a lock is a leftover, which the next owner removes. Process ids are not needed. Other machines that share the
file system may not see the lock, so their files count as leftovers only after a day. The name of a file contains its
machine.

`Spill` keeps values in memory while they are few, and all of them in a file without a name when they are many.
"""

from __future__ import annotations

import errno
import os
import pickle
import re
import secrets
import shutil
import socket
import stat
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO, Final, TypeVar, overload

from ais_prompt.errors import StoreError
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


T = TypeVar("T")

IN_MEMORY: Final = 4 * 2**20
"""Number of bytes kept in memory. If there are more, all go to a file."""
PIECE: Final = 128
"""Number of values that are written and read together."""


class Spill:
    """A growing sequence of pieces of bytes, which are read by their numbers.

    The newest ones are in memory, the others in a file without a name, which is removed when the process ends. It is in
    the system's temporary folder (``TMPDIR``).
    """

    def __init__(self) -> None:
        self._newest = bytearray()
        self._file: BinaryIO | None = None
        self._written = 0  # bytes in the file
        self._starts = array("q", [0])  # the last entry is the end

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self._starts) - 1

    def append(self, piece: bytes | memoryview) -> None:
        """Append a piece.

        Raises:
            StoreError: it cannot be written.
        """
        self._newest += piece
        self._starts.append(self._starts[-1] + len(piece))
        if len(self._newest) > IN_MEMORY:
            self._put_away()

    def __getitem__(self, number: int) -> bytes:
        """Return a piece.

        Raises:
            IndexError: there is no piece with this number, from 0.
            StoreError: it cannot be read.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"piece {number} of {len(self)}")
        start, end = self._starts[number], self._starts[number + 1]
        if self._file is None or start >= self._written:
            return bytes(self._newest[start - self._written : end - self._written])
        with _temporary_file("read", "check that disk"):
            return os.pread(self._file.fileno(), end - start, start)

    def _put_away(self) -> None:
        with _temporary_file("written", "free some space there"):
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # it lives as long as this does
            left = memoryview(self._newest)
            while left:
                left = left[self._file.write(left) :]
            left.release()
        self._written += len(self._newest)
        self._newest.clear()


class Spilled(Sequence[T]):
    """A growing sequence that keeps its values in a file, except for one piece of them.

    Iterating is nearly as fast as over a list; random access is slow. It returns copies of the values.
    Values that cannot be pickled stay in memory.
    """

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._spill = Spill()
        self._held: dict[int, list[T]] = {}  # pieces that cannot be pickled
        self._newest: list[T] = []  # fewer than a whole piece
        self._opened: tuple[int, list[T]] = (-1, [])  # the piece of the last index
        for value in values:
            self.append(value)

    def append(self, value: T) -> None:
        """Add a value at the end.

        Raises:
            StoreError: it cannot be written.
        """
        self._newest.append(value)
        if len(self._newest) == PIECE:
            self._put_away()

    def __len__(self) -> int:
        return len(self._spill) * PIECE + len(self._newest)

    def __iter__(self) -> Iterator[T]:
        number = 0
        while number <= len(self._spill):
            yield from self._piece(number)
            number += 1

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        number, place = divmod(range(len(self))[index], PIECE)
        if self._opened[0] != number:
            self._opened = (number, self._piece(number))
        return self._opened[1][place]

    def _put_away(self) -> None:
        try:
            piece = pickle.dumps(self._newest, pickle.HIGHEST_PROTOCOL)
        except Exception:  # the class of a value may be user-defined, and raise anything
            self._held[len(self._spill)] = self._newest
            piece = b""
        self._spill.append(piece)
        self._newest = []

    def _piece(self, number: int) -> list[T]:
        if number == len(self._spill):
            return self._newest
        if number in self._held:
            return self._held[number]
        # Written by this process alone, so it is safe to unpickle.
        piece: list[T] = pickle.loads(self._spill[number])
        return piece


@contextmanager
def _temporary_file(done: str, cure: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"a temporary file cannot be {done}: {error.strerror or error}",
            where=tempfile.gettempdir(),
            fix=f"{cure}, or set TMPDIR to a folder on another disk",
        ) from error
