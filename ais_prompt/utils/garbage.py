"""The garbage collector, while many requests are under way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_THRESHOLDS: Final = (20_000, 50, 100)


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let the garbage collector run less often while the body runs.

    A request makes many short-lived objects, so that the collector looks at all modules and data again and again: a
    fifth of the processor time of a request (`tools.bench.engine`). What is alive at the beginning is not looked at.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
