"""What is going on between a model and its server in a moment."""

from __future__ import annotations

from msgspec import Struct


class Activity(Struct, frozen=True):
    """A moment of asking.

    Attributes:
        in_flight: requests that are being answered.
        waiting: requests that wait until they may go, or go again.
        reason: what the first of them waits for: the failure that it had, a rate, a server that is away.
        seconds: until that one goes on.
    """

    in_flight: int = 0
    waiting: int = 0
    reason: str = ""
    seconds: float = 0.0
