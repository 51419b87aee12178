"""Run the garbage collector less often while many objects are made: by requests, samples or datasets."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_THRESHOLDS: Final = (20_000, 50, 100)
_lock: Final = threading.Lock()
_before: Final[list[tuple[int, int, int]]] = []
"""The thresholds at the beginning of each body that is running."""


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let the garbage collector run less often while the body runs; bodies may overlap, also in several threads.

    A request creates many short-lived objects, so the collector would scan all modules and data again and again. This
    took a fifth of the processor time of a request (`tools.bench.engine`), and as much of the check of a config of
    1,000 datasets. Objects that exist already are not scanned.
    """
    with _lock:
        _before.append(gc.get_threshold())
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        with _lock:
            last = _before.pop()
            if not _before:
                gc.set_threshold(*last)
                gc.unfreeze()
