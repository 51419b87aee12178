"""Run the garbage collector less often while many requests are in flight."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_THRESHOLDS: Final = (20_000, 50, 100)


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let the garbage collector run less often while the body runs.

    A request creates many short-lived objects, so the collector would scan all modules and data again and again. This
    took a fifth of the processor time of a request (`tools.bench.engine`). Objects that exist already are not scanned.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
