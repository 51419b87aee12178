"""One writer for a run folder. The operating system releases a lock when its process ends, kill -9 included."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store.disk import unwritable, writing
from ais_prompt.store.layout import RunFolder

_REFUSED: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR}
"""Errors of a folder that is not there or may not be written."""


@contextmanager
def try_file_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file while the body runs, and yield True; yield False at once if it is held already.

    The file stays behind: if it were removed, a third process could lock a new file of the same name.

    Raises:
        OSError: the file cannot be made, or the file system has no locks.
    """
    path.parent.stat()  # FileLock would make a folder that is not there
    lock = FileLock(path, timeout=0, thread_local=False)  # released in whichever thread comes to the end
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    except NotImplementedError as error:
        raise OSError(errno.ENOLCK, "the file system has no locks") from error
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def hold_writer_lock(folder: RunFolder) -> Iterator[None]:
    """Hold a run folder while the body runs.

    Raises:
        StoreError: another process holds it, and is named; or the disk is full or cannot lock.
        ConfigError: the folder cannot be written.
    """
    # Windows lets no other process read a locked file, so the holder is named in another one.
    holder = folder.writer_lock_file.with_name(".lock.holder")
    with ExitStack() as stack:
        try:
            is_ours = stack.enter_context(try_file_lock(folder.writer_lock_file))
        except OSError as error:
            raise _unlockable(folder, error) from error
        if not is_ours:
            raise StoreError(
                f"another process writes this run folder: PID {_named(holder)}",
                where=str(folder.root),
                fix="wait until it has ended or stop it; or start a new run without -r",
            )
        with writing(holder):
            holder.write_text(f"{os.getpid()}\n", "utf-8")
        yield


def _named(holder: Path) -> str:
    try:
        return holder.read_text("utf-8").strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"


def _unlockable(folder: RunFolder, error: OSError) -> ConfigError | StoreError:
    if error.errno not in _REFUSED:
        return unwritable(folder.writer_lock_file, error)
    what = f"the run folder cannot be written: {error.strerror}"
    return ConfigError(what, where=str(folder.root), fix="choose another place with -w DIR")
