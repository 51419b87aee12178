"""Wait for what another process or thread does: for the event itself, never for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

WATCHDOG_SECONDS: Final = 300
"""After so long a test fails instead of hanging. Nothing that a test waits for takes nearly as long."""

STALL_SECONDS: Final = 3600
"""How long a server stalls that must not be waited for: longer than any watchdog."""


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Return as soon as a condition holds.

    Args:
        condition: asked again and again.
        what: what is waited for, for the error.

    Raises:
        AssertionError: it does not come.
    """
    end = time.monotonic() + WATCHDOG_SECONDS
    while not condition():
        assert time.monotonic() < end, f"this did not happen: {what}"
        time.sleep(0.01)
