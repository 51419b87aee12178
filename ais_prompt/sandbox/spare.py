"""Start the sandbox of the next program while the present one runs, so that its start costs hardly any time.

A spare has run nothing, and is used once. It belongs to the thread that started it, since bubblewrap ends with that.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ais_prompt.sandbox.isolation import Isolation
from ais_prompt.sandbox.launch import Guard, started


class _Waiting(dict[Isolation, tuple[Guard, ExitStack]]):
    """One guard of each isolation, with what ends it."""

    def __del__(self) -> None:
        self.end()

    def end(self) -> None:
        while self:
            self.popitem()[1][1].close()


class _Spares(threading.local):
    def __init__(self) -> None:
        self.waiting = _Waiting()


_spares = _Spares()


@contextmanager
def taken(isolation: Isolation) -> Iterator[Guard]:
    """Take the spare guard, or start one; at the end of the block it and all that it started are gone.

    Raises:
        OSError, ValueError: none can be started.
    """
    prepare(isolation)
    guard, stack = _spares.waiting.pop(isolation)
    with stack:
        yield guard


def prepare(isolation: Isolation) -> None:
    """Start a spare guard, if there is none that lives.

    Raises:
        OSError, ValueError: none can be started.
    """
    waiting = _spares.waiting
    if isolation in waiting and waiting[isolation][0].process.poll() is not None:
        waiting.pop(isolation)[1].close()
    if isolation not in waiting:
        with ExitStack() as stack:
            guard = stack.enter_context(started(isolation))
            waiting[isolation] = guard, stack.pop_all()


def end_spares() -> None:
    """End the spare guards of this thread. They also end with it, and with the run."""
    _spares.waiting.end()


atexit.register(end_spares)
