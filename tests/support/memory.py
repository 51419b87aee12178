"""Let a test take little memory: what takes more fails with MemoryError."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


@contextmanager
def little_memory(more: int = 1 << 30) -> Iterator[None]:
    """Let this process take ``more`` bytes of addresses beside those that it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
