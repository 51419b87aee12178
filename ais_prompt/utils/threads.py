"""Do blocking work beside an event loop, and run an event loop inside blocking work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from ais_prompt.utils.signals import wakeable

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
            # A future takes no StopIteration, and would never be done.
            outcome = (done.set_exception, RuntimeError(repr(error)) if isinstance(error, StopIteration) else error)
        call_in_loop(loop, settle, *outcome)

    threading.Thread(target=do, name="aisprompt-work", daemon=True).start()
    return await done


def call_in_loop(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *args: object) -> None:
    """Call a function in the event loop of another thread; do nothing if the loop has ended.

    A loop can end at any time, with an error or by Ctrl-C: also between a look at its thread and this call.
    """
    with suppress(RuntimeError):  # "Event loop is closed"
        loop.call_soon_threadsafe(call, *args)


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own, and return its result or raise its error.

    Unlike `asyncio.run` it also works where an event loop is running, as in a notebook; the coroutine then has a thread
    of its own. Ctrl-C cancels the coroutine, and is raised when the coroutine has ended.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    task: Future[asyncio.Task[T]] = Future()
    outcome: Future[T] = Future()

    async def main() -> T:
        task.set_result(asyncio.ensure_future(work))
        return await task.result()

    def run() -> None:
        try:
            outcome.set_result(asyncio.run(main()))
        except BaseException as error:
            outcome.set_exception(error)

    thread = threading.Thread(target=run, name="aisprompt-loop", daemon=True)
    with wakeable():
        try:
            thread.start()  # Ctrl-C may come before it returns
            return outcome.result()
        except KeyboardInterrupt:
            running = task.result()
            call_in_loop(running.get_loop(), running.cancel)
            outcome.exception()
            raise
