"""Blocking work beside an event loop, such as reading data and closing files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Do some work in a thread of its own, and return what it returns or raise what it raises.

    The thread is a daemon, unlike those of `asyncio.to_thread`: Ctrl-C waits for no dataset that is still being read.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not done.done():  # nothing waits for it any more
            set_outcome(outcome)

    def do() -> None:
        outcome: tuple[Callable[[Any], None], Any]
        try:
            outcome = (done.set_result, work())
        except BaseException as error:
            outcome = (done.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=do, name="aisprompt-files", daemon=True).start()
    return await done
