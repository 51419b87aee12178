"""Rate limits: requests a second, tokens a minute, and requests in flight.

Every class takes the time and returns how long to wait; `ais_prompt.models.api.asking` waits.
"""

from __future__ import annotations

import random
from typing import Final

from msgspec import Struct

from ais_prompt.models.model_options import RampUp


class Ramp(Struct, frozen=True):
    """The request rate in its first seconds.

    Attributes:
        strategy: ``linear`` adds the same number each second, ``exponential`` multiplies by the same factor.
        start, end: requests a second at the beginning, and from then on.
        seconds: length of the ramp in seconds.
    """

    strategy: RampUp
    start: float
    end: float
    seconds: float

    def rate(self, elapsed: float) -> float:
        """Return the requests a second at a time, in seconds after the first request."""
        share = min(1.0, elapsed / self.seconds)
        if self.strategy == "linear":
            return self.start + (self.end - self.start) * share
        return float(self.start * (self.end / self.start) ** share)


class RequestRate:
    """Limit the requests a second: intervals are 1/rate on average, and lost time is not made up for.

    Args:
        ramp: the rate.
        burstiness: shape of the Gamma distribution of the intervals, as in vLLM's serving benchmark: 1 makes a Poisson
            process, less comes in bursts, more is more even. None and 0 make all intervals equal.
        seed: seed of the intervals.
    """

    def __init__(self, ramp: Ramp, burstiness: float | None, seed: int) -> None:
        self._ramp = ramp
        self._burstiness = burstiness
        self._random = random.Random(seed)
        self._first: float | None = None
        self._due = 0.0

    def reserve(self, now: float) -> float:
        """Reserve the next start, and return the seconds until then."""
        if self._first is None:
            self._first = self._due = now
        start = max(self._due, now)
        mean = 1 / self._ramp.rate(start - self._first)
        shape = self._burstiness
        self._due = start + (self._random.gammavariate(shape, mean / shape) if shape else mean)
        return start - now


class TokenRate:
    """Limit the tokens a minute: a bucket that holds the tokens of one minute and fills evenly."""

    def __init__(self, tokens_per_minute: float) -> None:
        self._most = tokens_per_minute
        self._per_second = tokens_per_minute / 60
        self._level = tokens_per_minute
        self._filled = 0.0

    def reserve(self, tokens: float, now: float) -> float:
        """Take tokens, and return the seconds until the request may start. At most a full bucket is taken."""
        self._fill(now)
        taken = min(tokens, self._most)
        self._level -= taken
        return max(0.0, -self._level / self._per_second)

    def settle(self, expected: float, used: float, now: float) -> None:
        """Correct a reservation by the tokens that were used."""
        self._fill(now)
        self._level = min(self._most, self._level + min(expected, self._most) - used)

    def _fill(self, now: float) -> None:
        self._level = min(self._most, self._level + (now - self._filled) * self._per_second)
        self._filled = now


class AdaptiveLimit:
    """Limit the requests in flight: more while answers take no longer, half as many when the server is overloaded.

    The limit doubles with every round of answers at first. After the first overload it grows by one a round (AIMD, the
    congestion control of TCP; Chiu and Jain 1989).

    Args:
        most: highest limit.

    Attributes:
        most: highest limit; may be raised.
        limit: requests in flight at most, at present.
    """

    FIRST: Final = 4
    SLOWDOWN_LIMIT: Final = 2.0
    """The limit stays where answers take this many times as long as the quickest: more requests would only queue."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._level = float(min(self.FIRST, most))
        self._quickest: float | None = None
        self._seconds: float | None = None
        self._starting = True
        self._cut = float("-inf")

    @property
    def limit(self) -> int:
        return int(self._level)

    def answered(self, seconds: float) -> None:
        """Record an answer and the seconds that it took."""
        self._seconds = seconds if self._seconds is None else 0.9 * self._seconds + 0.1 * seconds
        self._quickest = min(self._quickest or self._seconds, self._seconds)
        if self._seconds > self.SLOWDOWN_LIMIT * self._quickest:
            self._starting = False
            return
        self._level = min(float(self.most), self._level + (1.0 if self._starting else 1.0 / self._level))

    def overloaded(self, now: float) -> None:
        """Halve the limit: the server throttled, or did not answer in time."""
        self._starting = False
        # All requests in flight fail together: one cut is enough until fewer requests have been answered.
        if now - self._cut >= (self._seconds or 1.0):
            self._level = max(1.0, self._level / 2)
            self._cut = now
