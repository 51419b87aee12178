"""Threads beside the main one, event loops in them, and the signals that end a program early.

`in_thread` does blocking work beside an event loop, and `run_coroutine` runs an event loop inside blocking work. The
signals are Ctrl-C by a person, and SIGTERM and SIGUSR1 by a batch system; Python runs their handlers in the main
thread, which `terminable` and `wakeable` wake for it. asyncio is imported where it is used: every command needs the
signals, few need a loop.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ais_prompt.errors import Interrupted, Terminated

if TYPE_CHECKING:
    import asyncio

TERMINATING: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))
"""SIGTERM, and SIGUSR1, which schedulers are usually asked to send some time before they stop a job."""

_WAKE_SECONDS: Final = 0.2
_NUDGE: Final = getattr(signal, "SIGURG", None)
"""A signal that does nothing, but wakes the main thread."""


class Termination(KeyboardInterrupt):
    """One of `TERMINATING` came. Whatever ends well after Ctrl-C ends well after it."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Termination` in the main thread when a terminating signal comes. Further ones do not disturb the end."""
    came = threading.Event()

    def end(*_: object) -> None:
        if not came.is_set():
            came.set()
            raise Termination

    before = {number: signal.signal(number, end) for number in TERMINATING}
    try:
        with _waking_main(came, TERMINATING):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def wakeable() -> Iterator[None]:
    """Let Ctrl-C end each wait of the main thread, outside of `terminable`; do nothing in another thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _waking_main(threading.Event(), ()):
        yield


@contextmanager
def _waking_main(came: threading.Event, repeated: Collection[int]) -> Iterator[None]:
    """Send some signals to the main thread again until a handler has run, and wake the thread after Ctrl-C.

    Python runs handlers in the main thread. If that waits for a lock, and the signal came in another thread or just
    before the wait, the handler would run only when the wait is over: perhaps never.

    Args:
        came: set by the handler of the signals that are repeated.
        repeated: the signals.
    """
    if _NUDGE is None or not hasattr(signal, "pthread_kill"):
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    main = threading.main_thread().ident
    assert main is not None

    def wake() -> None:
        while numbers := os.read(reader, 64):
            if before >= 0:  # of an event loop, or of the `terminable` around a `wakeable`
                with suppress(OSError):
                    os.write(before, numbers)
            for number in set(numbers).intersection(repeated):
                while not came.wait(_WAKE_SECONDS):
                    signal.pthread_kill(main, number)
            # The handler of Ctrl-C, Python's or asyncio's, does not say that it ran; a second Ctrl-C could hit the end.
            if signal.SIGINT in numbers:
                came.wait(_WAKE_SECONDS)
                signal.pthread_kill(main, _NUDGE)
        os.close(reader)

    nudged = signal.signal(_NUDGE, lambda *_: None)  # a signal without a handler wakes no thread
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    thread = threading.Thread(target=wake, name="aisprompt-signals", daemon=True)
    thread.start()
    try:
        yield
    finally:
        came.set()
        signal.set_wakeup_fd(before)
        os.close(writer)
        thread.join()
        signal.signal(_NUDGE, nudged)


def interruption(stop: KeyboardInterrupt, what: str, *, where: str = "", fix: str = "") -> Interrupted:
    """Return the error for Ctrl-C or a signal; its exit code says which of them it was."""
    kind = Terminated if isinstance(stop, Termination) else Interrupted
    return kind(what, where=where, fix=fix)


T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Do some work in a thread of its own, and return its result or raise its error.

    The thread is a daemon, unlike those of `asyncio.to_thread`: Ctrl-C waits for no dataset that is still being read,
    and for no application that still answers.
    """
    import asyncio

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
    import asyncio
    from concurrent.futures import Future

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
