"""What reading a log may cost, however it is written: text, values and time. A log may come from anybody.

A file says little about what it makes of a machine: references repeat a text, a pattern goes on for hours, empty lists
take 30 times their bytes. So a log has one budget for all of its files, in proportion to their size. Each reader spends
it where it makes something, and reads each part of a file a few times at most.
"""

from __future__ import annotations

import time
from typing import Final

from ais_prompt.errors import DataError

TIMES_ITS_SIZE: Final = 300
"""Most bytes that are made of each byte of a log: logs are text, which is compressed to a twentieth."""
LEAST_BYTES: Final = 1 << 24
SECONDS: Final = 10.0
SECONDS_PER_MEGABYTE: Final = 10.0
"""Most processor time, beside `SECONDS`. A thousand answers, about a megabyte, take one second."""
MOST_METRICS: Final = 100
"""Most metrics of a task: each is averaged by itself."""
OTHER_FILE: Final = "copy the log again, or name another file"


class LogBudget:
    """What is left for one log."""

    def __init__(self) -> None:
        self._bytes, self._seconds = LEAST_BYTES, SECONDS
        self._begun = time.process_time()

    def add(self, size: int) -> None:
        """Count a file of the log, with its size in bytes."""
        self._bytes += TIMES_ITS_SIZE * size
        self._seconds += SECONDS_PER_MEGABYTE * size / 1e6

    def spend(self, size: int, where: str) -> None:
        """Count what was made of the log.

        Args:
            size: bytes, or characters.
            where: the place in the log, for errors.

        Raises:
            DataError: it is more than the log is worth.
        """
        self._bytes -= size
        if self._bytes < 0:
            what = f"it is no log: it makes more than {TIMES_ITS_SIZE} times its size"
            raise DataError(what, where=where, fix=OTHER_FILE)
        if time.process_time() - self._begun > self._seconds:
            what = f"reading it takes more than {self._seconds:.0f} s of processor time"
            raise DataError(what, where=where, fix=OTHER_FILE)
