"""Without a connection, the lookups of fifty datasets cost the time of one."""

from __future__ import annotations

import pytest

from ais_prompt.utils import REMEMBERED_SECONDS, SLOW_SECONDS, lookup
from ais_prompt.utils import hub as lookups


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(lookups, "time", clock)
    monkeypatch.setattr(lookups, "_failed", {})
    return clock


def attempt(clock: Clock, name: str, seconds: float, error: Exception | None) -> str:
    """Return "found", the error of a lookup, or "not repeated" in front of a remembered one."""
    asked = False
    try:
        with lookup(name):
            asked = True
            clock.now += seconds
            if error is not None:
                raise error
    except (OSError, ValueError) as caught:
        return str(caught) if asked else f"not repeated: {caught}"
    return "found"


def test_a_slow_failure_is_not_repeated_for_a_minute(clock: Clock) -> None:
    offline = OSError("no connection")
    assert attempt(clock, "owner/name", SLOW_SECONDS + 1, offline) == "no connection"
    assert attempt(clock, "owner/name", 0, None) == "not repeated: no connection"
    assert attempt(clock, "owner/other", 0, None) == "found"
    clock.now += REMEMBERED_SECONDS
    assert attempt(clock, "owner/name", 0, None) == "found"


@pytest.mark.parametrize(
    ("seconds", "error"), [(SLOW_SECONDS - 1, OSError("gated")), (SLOW_SECONDS + 1, ValueError("broken"))]
)
def test_other_failures_are_looked_up_again(clock: Clock, seconds: float, error: Exception) -> None:
    attempt(clock, "owner/name", seconds, error)
    assert attempt(clock, "owner/name", 0, None) == "found"
