"""How much is printed besides results: ``-q``, ``-v``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

QUIET: Final = -1
"""Results and errors only: no progress, no warnings, no hints."""
NORMAL: Final = 0
VERBOSE: Final = 1
"""All messages of the log of a run too."""

_levels: Final = [NORMAL]


@contextmanager
def verbosity(level: int) -> Iterator[None]:
    """Print as much as ``level`` says while the body runs, in all threads of this process."""
    _levels.append(level)
    try:
        yield
    finally:
        _levels.pop()


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return _levels[-1] <= QUIET


def is_verbose() -> bool:
    """Return whether all messages are printed."""
    return _levels[-1] >= VERBOSE
