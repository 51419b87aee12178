"""Remember slow lookups on the Hugging Face Hub that failed: without a connection, a run waits for the first only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ais_prompt.utils.hub import guard_hub

SLOW_SECONDS: Final = 5.0
"""A failure that took longer is remembered: the library retried. A quick one, such as a wrong name, is not."""
REMEMBERED_SECONDS: Final = 60.0

_failed: Final[dict[str, tuple[float, str]]] = {}
"""Name → when its lookup failed, and why."""


@contextmanager
def lookup(name: str) -> Iterator[None]:
    """Look a name up on the hub; a lookup that just failed slowly is not repeated.

    A benchmark may have fifty datasets with one tokenizer, and huggingface_hub retries each lookup for half a minute.

    Raises:
        ConnectionError: a lookup of this name failed within the last minute, after retries.
    """
    started = time.monotonic()
    failed_at, why = _failed.get(name, (float("-inf"), ""))
    if started - failed_at < REMEMBERED_SECONDS:
        raise ConnectionError(why)
    guard_hub()
    try:
        yield
    except OSError as error:  # what transformers raises without a connection
        ended = time.monotonic()
        if ended - started > SLOW_SECONDS:
            _failed[name] = ended, str(error)
        raise
