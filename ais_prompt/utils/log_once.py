"""Log a message that thousands of samples may cause only once."""

from __future__ import annotations

import logging
from typing import Final

ONCE: Final = "once"
"""In ``extra`` of a log call: what is the same for all messages of which one is enough."""


class OnceFilter(logging.Filter):
    """Drops messages whose `ONCE` was there before. Each log has its own, so that every run has the first."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the message is logged."""
        key = getattr(record, ONCE, None)
        if key in self._seen:
            return False
        if key is not None:
            self._seen.add(key)
        return True
