"""How fast requests may start: so many a second, so many tokens a minute, and so many at a time.

Every class here is told the time and tells how long to wait; who waits is `ais_prompt.models.traffic.traffic`.
"""

from __future__ import annotations

import random
from typing import Final

from msgspec import Struct

from ais_prompt.models.options import RampUp


class Ramp(Struct, frozen=True):
    """The request rate in its first seconds.

    Attributes:
        strategy: grows by the same number, or by the same factor, each second.
        start, end: requests a second at the beginning, and from then on.
        seconds: how long it takes.
    """

    strategy: RampUp
    start: float
    end: float
    seconds: float

    def rate(self, elapsed: float) -> float:
        """Requests a second, so many seconds after the first."""
        share = min(1.0, elapsed / self.seconds)
        if self.strategy == "linear":
            return self.start + (self.end - self.start) * share
        return float(self.start * (self.end / self.start) ** share)


class RequestRate:
    """Requests start at certain intervals: 1/rate on average, and never in a bunch to make up for lost time.

    Args:
        ramp: the rate.
        burstiness: shape of the Gamma distribution of the intervals, as in vLLM's serving benchmark: 1 makes a Poisson
            process, less comes in bursts, more is more even. None makes all intervals equal.
        seed: of the intervals.
    """

    def __init__(self, ramp: Ramp, burstiness: float | None, seed: int) -> None:
        self._ramp = ramp
        self._burstiness = burstiness
        self._random = random.Random(seed)
        self._first: float | None = None
        self._due = 0.0

    def reserve(self, now: float) -> float:
        """Seconds until the next request may start, which is the caller's."""
        if self._first is None:
            self._first = self._due = now
        start = max(self._due, now)
        mean = 1 / self._ramp.rate(start - self._first)
        shape = self._burstiness
        self._due = start + (mean if shape is None else self._random.gammavariate(shape, mean / shape))
        return start - now


class TokenRate:
    """Tokens a minute: a bucket that holds those of one minute and fills evenly."""

    def __init__(self, tokens_per_minute: float) -> None:
        self._most = tokens_per_minute
        self._per_second = tokens_per_minute / 60
        self._level = tokens_per_minute
        self._filled = 0.0

    def reserve(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens may start. One with more than the bucket holds gets a full one."""
        self._fill(now)
        taken = min(tokens, self._most)
        self._level -= taken
        return max(0.0, -self._level / self._per_second)

    def settle(self, expected: float, used: float, now: float) -> None:
        """Correct a reservation, when it is known how many tokens it took."""
        self._fill(now)
        self._level = min(self._most, self._level + min(expected, self._most) - used)

    def _fill(self, now: float) -> None:
        self._level = min(self._most, self._level + (now - self._filled) * self._per_second)
        self._filled = now


class AdaptiveLimit:
    """How many requests may be in flight: more as long as answers take no longer, half as many when the server chokes.

    It doubles with every round of answers at first, and grows by one a round after the server has choked (AIMD, as the
    congestion control of TCP; Chiu and Jain 1989).

    Args:
        most: never more than this.

    Attributes:
        limit: requests in flight at most, now.
    """

    FIRST: Final = 4
    PATIENCE: Final = 2.0
    """Answers that take so many times as long as the quickest did mean that more would only queue."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._level = float(min(self.FIRST, most))
        self._quickest: float | None = None
        self._seconds: float | None = None
        self._starting = True
        self._cut = float("-inf")

    @property
    def limit(self) -> int:
        return int(self._level)

    def answered(self, seconds: float) -> None:
        """An answer came, so many seconds after it was asked for."""
        self._seconds = seconds if self._seconds is None else 0.9 * self._seconds + 0.1 * seconds
        self._quickest = min(self._quickest or self._seconds, self._seconds)
        if self._seconds > self.PATIENCE * self._quickest:
            self._starting = False
            return
        self._level = min(float(self._most), self._level + (1.0 if self._starting else 1.0 / self._level))

    def choked(self, now: float) -> None:
        """The server said that it is too much, or did not answer in time."""
        self._starting = False
        # All that is in flight chokes together: one cut is enough until answers to fewer requests can be seen.
        if now - self._cut >= (self._seconds or 1.0):
            self._level = max(1.0, self._level / 2)
            self._cut = now
