"""Threads for blocking work beside an event loop, such as reading data and closing files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, TypeAlias, TypeVar

T = TypeVar("T")
_Work: TypeAlias = Callable[[], None]

MOST: Final = 8
"""Threads at most: a disk writes many small files faster side by side."""
PATIENCE_SECONDS: Final = 0.02
"""Work that has not begun after so long gets a thread of its own. Where work is short, one thread does it: several
would wait for Python's lock again and again, and the event loop with them."""


class FileThreads:
    """Do blocking work without holding up the event loop.

    The threads are daemons, unlike those of `concurrent.futures`: Ctrl-C waits for no dataset that is still being read.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Do some work in a thread, and return what it returns or raise what it raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        has_begun = False

        def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
            if not done.done():
                set_outcome(outcome)

        def do() -> None:
            nonlocal has_begun
            has_begun = True
            outcome: tuple[Callable[[Any], None], Any]
            try:
                outcome = (done.set_result, work())
            except BaseException as error:
                outcome = (done.set_exception, error)
            with suppress(RuntimeError):  # the loop is closed: nothing waits for it any more
                loop.call_soon_threadsafe(settle, *outcome)

        def hurry() -> None:
            if not has_begun and self._threads < MOST:
                self._add_thread()

        self._work.put(do)
        if not self._threads:
            self._add_thread()
        waiting = loop.call_later(PATIENCE_SECONDS, hurry)
        try:
            return await done
        finally:
            waiting.cancel()

    def close(self) -> None:
        """Let the threads end, each after the work that it is doing."""
        for _ in range(self._threads):
            self._work.put(None)

    def _add_thread(self) -> None:
        self._threads += 1
        threading.Thread(target=self._serve, name="aisprompt-files", daemon=True).start()

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()
