"""Do blocking work beside an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Do some work in a thread of its own, and return its result or raise its error.

    The thread is a daemon, unlike those of `asyncio.to_thread`: Ctrl-C waits for no dataset that is still being read,
    and for no application that still answers.
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

    threading.Thread(target=do, name="aisprompt-work", daemon=True).start()
    return await done
