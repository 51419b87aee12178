"""Keep the memory and the environment of this process, which may hold keys, from other processes of the user."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4


class _Hiding:
    """How many of the processes that run code of others need this process to be hidden."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._before = 1

    def change(self, number: int) -> None:
        with self._lock:
            if not self._number:
                self._before = _prctl(_PR_GET_DUMPABLE)
            self._number += number
            _prctl(_PR_SET_DUMPABLE, 0 if self._number else self._before)


_HIDING: Final = _Hiding()


def hide() -> None:
    """Hide this process until `unhide` was called as often: nothing of it is readable below /proc, nor by ptrace(2)."""
    _HIDING.change(1)


def unhide() -> None:
    """End what `hide` began."""
    _HIDING.change(-1)


@contextmanager
def hidden() -> Iterator[None]:
    """Hide this process while the body runs."""
    hide()
    try:
        yield
    finally:
        unhide()


def _prctl(option: int, value: int = 0) -> int:
    return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0)) if sys.platform == "linux" else 1
