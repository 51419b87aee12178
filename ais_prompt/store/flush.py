"""Flush files to the disk without holding up the thread that writes them: a busy disk can take a second."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ais_prompt.utils.worker import Worker, WorkerDied

logger = logging.getLogger(__name__)

FLUSH_SECONDS: Final = 1.0
"""Seconds of writing that a power failure can lose; a killed process loses nothing."""
MANY: Final = 8
"""Files for which a process of its own is worth a call."""


class BackgroundFlush:
    """Flushes an open file at intervals, in a thread.

    Args:
        path, descriptor: of the file.

    Attributes:
        path: of the file.
        is_due: whether `finish` flushes; an earlier process may have written what it did not flush.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.is_due = True
        self._descriptor = descriptor
        self._last = time.monotonic()
        self._thread: threading.Thread | None = None
        self._error: OSError | None = None

    def at_times(self) -> None:
        """Begin to flush what was written just now, unless something was flushed a moment ago.

        Raises:
            OSError: an earlier flush failed.
        """
        self._raise_error()
        now = time.monotonic()
        if now - self._last < FLUSH_SECONDS or (self._thread is not None and self._thread.is_alive()):
            return
        self._last = now
        self._thread = threading.Thread(target=self._flush, name="aisprompt-flush", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Flush everything, and return when it is done. The file may be closed then.

        Raises:
            OSError: this or an earlier flush failed.
        """
        if self._thread is not None:
            self._thread.join()
        if self.is_due:
            self._flush()
        self.is_due = False
        self._raise_error()

    def _flush(self) -> None:
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            self._error = error

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error


class FlushProcess:
    """Flushes many files at once, in a process of its own.

    A thread that flushes hands Python's lock to and fro with the thread that asks, for each file, and slows it down
    (`tools.bench.suite --only small`). What the process does not flush, `BackgroundFlush.finish` flushes.
    """

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def flush(self, files: Sequence[BackgroundFlush]) -> None:
        """Flush files to which nothing more is written, in any thread. The first call only starts the process."""
        due = [file for file in files if file.is_due]
        if len(due) < MANY or (worker := self._started()) is None:
            return
        try:
            here = Path.cwd()
            flushed = worker.call([str(here / file.path) for file in due])
        except WorkerDied as error:
            logger.info("the process that flushes files ended: %s", error)
            return
        for file, is_flushed in zip(due, flushed, strict=True):
            file.is_due = not is_flushed

    def stop(self) -> None:
        """End the process, from any thread."""
        with self._lock:
            self._is_over = True
            if self._worker is not None:
                self._worker.stop()

    def _started(self) -> Worker | None:
        """Return the process; None if it starts just now, cannot be started, or is no longer needed."""
        with self._lock:
            if self._is_over or self._worker is not None:
                return self._worker
            try:
                self._worker = Worker("ais_prompt.utils.flush_worker")
            except OSError as error:
                logger.info("no process to flush files: %s", error)
                self._is_over = True
            return None
