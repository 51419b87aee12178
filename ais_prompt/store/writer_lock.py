"""Lock a run folder for one writer. The operating system releases the lock when the process ends, kill -9 included."""

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
from ais_prompt.store.layout import RunFolder, refuse_links

_REFUSED: Final = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR}
"""Errors of a folder that does not exist or cannot be written."""


@contextmanager
def try_file_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file while the body runs, and yield True; yield False at once if another process holds it.

    The file is not removed: otherwise a third process could lock a new file of the same name.

    Raises:
        OSError: the file cannot be made, or the file system has no locks.
    """
    path.parent.stat()  # FileLock would create a missing folder
    lock = FileLock(path, timeout=0, thread_local=False)  # any thread may release it
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
    """Lock a run folder while the body runs.

    Raises:
        StoreError: another process holds it, which the message names; the disk is full or has no locks; or there is a
            symbolic link in the folder.
        ConfigError: the folder cannot be written.
    """
    # Windows lets no other process read a locked file, so the holder is named in another one.
    holder = folder.writer_lock_file.with_name(".lock.holder")
    refuse_links(folder)
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
