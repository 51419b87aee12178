"""Signals that end a program early: Ctrl-C by a person, SIGTERM and SIGUSR1 by a batch system."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from ais_prompt.errors import Interrupted, Terminated

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
