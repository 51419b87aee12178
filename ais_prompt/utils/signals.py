"""Signals that end a program early: Ctrl-C by a person, SIGTERM and SIGUSR1 by a batch system."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ais_prompt.errors import Interrupted, Terminated

TERMINATING: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))
"""SIGTERM, and SIGUSR1: what Slurm is usually asked to send some time before it stops a job."""


class Termination(KeyboardInterrupt):
    """One of `TERMINATING` came. Whatever ends well after Ctrl-C ends well after it."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Termination` in the main thread when a terminating signal comes. Further ones do not disturb the end."""
    came = False

    def end(*_: object) -> None:
        nonlocal came
        if not came:
            came = True
            raise Termination

    before = {number: signal.signal(number, end) for number in TERMINATING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interruption(stop: KeyboardInterrupt, what: str, *, where: str = "", fix: str = "") -> Interrupted:
    """Return the error for Ctrl-C or a signal; its exit code says which of them it was."""
    kind = Terminated if isinstance(stop, Termination) else Interrupted
    return kind(what, where=where, fix=fix)
