"""A timeout for many tasks at once, with one timer for all of them."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, cast


class SharedTimeout:
    """Raise TimeoutError in each task whose block takes too long: ``with timeout: await ...``.

    The task is cancelled, as by `asyncio.timeout`. All blocks have the same number of seconds, so the first to begin is
    the first to expire, and one timer is enough. One for each request would take 3 % of the time of asking a server
    (`tools.bench.engine --only rate`), since an event loop sorts its timers.

    Args:
        seconds: how long each block may take.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._deadlines: dict[asyncio.Task[Any], float] = {}  # the earliest is the first
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = self._deadlines[_this_task()] = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(deadline, self._cancel_expired)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        task = _this_task()
        has_expired = self._deadlines.pop(task, None) is None
        # A task that something else cancels too stays cancelled.
        if has_expired and not task.uncancel() and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _cancel_expired(self) -> None:
        """Cancel the tasks whose time is up, and set the timer to the next deadline."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for task in [task for task, deadline in self._deadlines.items() if deadline <= now]:
            del self._deadlines[task]
            task.cancel()
        first = next(iter(self._deadlines.values()), None)
        self._timer = None if first is None else loop.call_at(first, self._cancel_expired)


def _this_task() -> asyncio.Task[Any]:
    return cast("asyncio.Task[Any]", asyncio.current_task())
