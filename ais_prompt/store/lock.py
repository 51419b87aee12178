"""One writer for a run folder. The kernel releases the lock when its process ends, kill -9 included."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store.disk import writing
from ais_prompt.store.layout import RunFolder


@contextmanager
def lock_run(folder: RunFolder) -> Iterator[None]:
    """Hold a run folder while the body runs.

    Raises:
        StoreError: another process holds it, and is named; or the disk is full or cannot lock.
        ConfigError: the folder cannot be written.
    """
    try:
        descriptor = os.open(folder.lock_file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ConfigError(
            f"the run folder cannot be written: {error.strerror}",
            where=str(folder.root),
            fix="choose another place with -w DIR",
        ) from error
    try:
        _take(descriptor, folder)
        # The file stays behind: removing it would let a third process lock a new file of the same name.
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, folder: RunFolder) -> None:
    with writing(folder.lock_file):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode().strip() or "unknown"
            raise StoreError(
                f"another process writes this run folder: PID {holder}",
                where=str(folder.root),
                fix="wait until it has ended or stop it; or start a new run without -r",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
