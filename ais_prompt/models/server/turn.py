"""A lock that coroutines of several event loops share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

POLL_SECONDS: Final = 0.1


class Turn:
    """Let one coroutine work at a time, whatever event loop it belongs to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for the turn, and hold it while the body runs."""
        while not self._lock.acquire(blocking=False):
            await asyncio.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            self._lock.release()
