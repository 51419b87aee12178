"""Flush files to the disk without holding up the thread that writes them: a busy disk can take a second."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Final

FLUSH_SECONDS: Final = 1.0
"""Seconds of writing that a power failure can lose; a killed process loses nothing."""


class BackgroundFlush:
    """Flushes an open file at intervals, in a thread.

    Args:
        path, descriptor: of the file.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
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
        self._flush()
        self._raise_error()

    def _flush(self) -> None:
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            self._error = error

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error
