"""Limit the time of each of many tasks at once, with one timer for all of them."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, cast


class TimeLimit:
    """Gives a block the same number of seconds in every task that enters it: ``with limit: await ...``.

    As `asyncio.timeout` does, it cancels a task that is late, and the block raises TimeoutError. A timer for each
    request would take 3 % of the time of asking a server (`tools.bench.engine --only rate`), since an event loop sorts
    its timers. Here the first to begin is the first to be late, so that one timer is enough.

    Args:
        seconds: how long each may take.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._deadlines: dict[asyncio.Task[Any], float] = {}  # the earliest is the first
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = self._deadlines[_this_task()] = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(deadline, self._end_late)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        task = _this_task()
        if self._deadlines.pop(task, None) is None and not task.uncancel() and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _end_late(self) -> None:
        """Cancel the tasks that are late, and look again when the next may be."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        late = [task for task, deadline in self._deadlines.items() if deadline <= now]
        for task in late:
            del self._deadlines[task]
            task.cancel()
        first = next(iter(self._deadlines.values()), None)
        self._timer = None if first is None else loop.call_at(first, self._end_late)


def _this_task() -> asyncio.Task[Any]:
    return cast("asyncio.Task[Any]", asyncio.current_task())
