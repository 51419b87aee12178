"""Measures a served model while it answers."""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np

from ais_prompt.types import Completion, Speed, Times

FEW: Final = 1_000
"""Values that are sorted without handing Python's lock to other threads."""


class SpeedMeter:
    """Adds up what is known of each request, some 30 bytes of memory each.

    Args:
        clock: tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first = float("inf")
        self._last = 0.0
        self._failed = self._attempts = self._input_tokens = self._output_tokens = 0
        self._busy = 0.0
        self._replicas: Counter[str] = Counter()
        self._latencies, self._first_tokens, self._tokens = array("d"), array("d"), array("d")

    def add(self, completion: Completion) -> None:
        """Note a request that has just come to its end."""
        now = self._clock()
        self._last = now
        self._first = min(self._first, now - completion.seconds)
        self._busy += completion.seconds
        self._attempts += completion.attempts
        if completion.failure is not None:
            self._failed += 1
            return
        if completion.replica:
            self._replicas[completion.replica] += 1
        self._latencies.append(completion.seconds)
        self._input_tokens += completion.usage.prompt_tokens or 0
        self._output_tokens += completion.usage.completion_tokens or 0
        if completion.first_token_seconds is not None:
            self._first_tokens.append(completion.first_token_seconds)
        if completion.token_seconds is not None:
            self._tokens.append(completion.token_seconds)

    def speed(self) -> Speed | None:
        """What was measured; None if nothing was asked."""
        requests = len(self._latencies) + self._failed
        if not requests:
            return None
        seconds = self._last - self._first
        return Speed(
            requests,
            self._failed,
            self._attempts,
            self._input_tokens,
            self._output_tokens,
            seconds,
            self._busy / seconds if seconds else 0.0,
            _times(self._latencies),
            _times(self._first_tokens),
            _times(self._tokens),
            dict(sorted(self._replicas.items())),
        )


def _times(values: array[float]) -> Times | None:
    """Percentiles with linear interpolation between the values, as `numpy.percentile`, which is slow for a few."""
    if not values:
        return None
    # While numpy sorts, other threads run, and getting Python's lock back takes longer than sorting a few values.
    seconds = np.array(sorted(values)) if len(values) <= FEW else np.sort(np.frombuffer(values))

    def percentile(share: float) -> float:
        place = share * (len(seconds) - 1)
        below = float(seconds[int(place)])
        above = float(seconds[min(int(place) + 1, len(seconds) - 1)])
        return below + (above - below) * (place - int(place))

    return Times(float(seconds.mean()), percentile(0.5), percentile(0.9), percentile(0.99))
