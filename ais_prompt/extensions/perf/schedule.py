"""When each request of a load is due. Nothing is sent here, and the same arguments give the same schedule everywhere.

There are five kinds of load:

- ``closed``: so many clients, each of which asks again as soon as it is answered. It measures what the server can do.
- ``users``: as closed, with a pause between an answer and the next question.
- ``rate``: requests come at a rate, whether the server keeps up or not, as from many users.
- ``trace``: requests come when the rows say.
- ``pressure``: as ``closed``, over and over the rows until the time is over.

Intervals of a rate are drawn from a Gamma distribution, as in vLLM's serving benchmark and AISBench: its shape is the
burstiness, 1 makes a Poisson process, less comes in bursts, more is more even, 0 is even. Their sum is scaled so that
the last request is due at N / rate: two runs with different seeds have the same load.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from statistics import fmean, harmonic_mean
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.errors import ConfigError
from ais_prompt.models import Limits, Ramp

LoadKind: TypeAlias = Literal["closed", "users", "rate", "trace", "pressure"]
POISSON: Final = 1.0
"""Burstiness of a rate where the config does not say."""
LEAST_RATE: Final = 0.001
MOST_RATE: Final = 100_000.0
"""Requests a second: a lower rate never ends, and no client reaches a higher one."""
LONGEST_TRACE: Final = 31 * 86_400
"""Seconds: the times of a longer trace have another unit."""


class Schedule(Struct, frozen=True):
    """When requests are due, in seconds from the beginning of the load.

    Attributes:
        kind: of the load.
        due: when each request is due, in order. Requests after the last one are due when a place is free.
        requests: how many there are; None for as many as fit into ``seconds``.
        places: most requests in flight; None for no limit.
        seconds: no request starts after so many seconds; None for no limit.
        think_seconds: pause of a place after each answer.
    """

    kind: LoadKind
    due: Sequence[float] = ()
    requests: int | None = None
    places: int | None = None
    seconds: float | None = None
    think_seconds: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether requests have times of their own, which do not depend on the server."""
        return self.kind in ("rate", "trace")

    def __iter__(self) -> Iterator[tuple[int, float | None]]:
        """Yield the number of each request, from 0, and when it is due; None: when a place is free."""
        for number in count() if self.requests is None else range(self.requests):
            yield number, self.due[number] if number < len(self.due) else None

    @property
    def rate(self) -> float | None:
        """The mean requests a second that are planned; None if it depends on the server."""
        if not self.is_open or not self.due or self.due[-1] <= 0:
            return None
        return len(self.due) / self.due[-1]


def closed(requests: int | None, places: int, seconds: float | None = None) -> Schedule:
    """Return the schedule of so many clients that ask without a pause: so many requests, or for so many seconds."""
    return Schedule("closed", (), requests, places, seconds)


def of_users(requests: int | None, users: int, think_seconds: float, seconds: float | None = None) -> Schedule:
    """Return the schedule of so many users, each of whom pauses after an answer."""
    return Schedule("users", (), requests, users, seconds, think_seconds=think_seconds)


def at_rate(requests: int, limits: Limits, *, seed: int, places: int | None, seconds: float | None = None) -> Schedule:
    """Return the schedule of a rate.

    Args:
        requests: how many, unless there are ``seconds``.
        limits: ``request_rate``, ``burstiness``, and the ramp of the model.
        seed: of the intervals.
        places: most requests in flight; None for no limit, as a rate should have.
        seconds: as many requests as are due in so many seconds.

    Raises:
        ConfigError: there is no rate, or it is out of range.
    """
    due = _arrivals(requests if seconds is None else _requests_in(seconds, limits), limits, seed)
    # Drawn intervals may reach beyond the end. One request remains, else there would be nothing to measure.
    due = [time for time in due if seconds is None or time <= seconds] or due[:1]
    return Schedule("rate", due, len(due), places)


def pressure(limits: Limits, *, seed: int, places: int, seconds: float) -> Schedule:
    """Return the schedule of clients that ask over and over for so many seconds; with a rate they start at that rate.

    Raises:
        ConfigError: the rate is out of range.
    """
    # The rate says how the clients begin; from then on each asks again as soon as it is answered.
    due = _arrivals(places, limits, seed) if limits.request_rate is not None else ()
    return Schedule("pressure", due, None, places, seconds)


def from_trace(times: Sequence[float], scale: float, *, places: int | None, seconds: float | None = None) -> Schedule:
    """Return the schedule of recorded times.

    Args:
        times: in seconds; the first one becomes 0.
        scale: 2 makes the load twice as fast.
        places: most requests in flight; None for no limit.
        seconds: leave out later requests.

    Raises:
        ConfigError: the times are not in order, or too long.
    """
    for number, (before, after) in enumerate(pairwise(times), start=1):
        if after < before:
            what = f"the trace is not in order: row {number} is {before - after:g} s before the row in front of it"
            raise ConfigError(what, where="timestamp", fix="sort the rows by timestamp")
    due = [time for one in times if (time := (one - times[0]) / scale) <= (math.inf if seconds is None else seconds)]
    if due and due[-1] > LONGEST_TRACE:
        what = f"the trace takes {due[-1] / 86_400:,.0f} days"
        fix = "write timestamps in milliseconds, or shorten it with perf.time_scale or --duration"
        raise ConfigError(what, where="timestamp", fix=fix)
    return Schedule("trace", due, len(due), places)


def _requests_in(seconds: float, limits: Limits) -> int:
    """Return how many requests arrive in so many seconds, on average and at least 1.

    Raises:
        ConfigError: as `at_rate`.
    """
    end, steps = _end_rate(limits), [place / 1000 for place in range(1001)]
    rates = [_rate_at(limits, end, step * seconds, step) for step in steps]
    # A ramp over all requests is a mean of intervals, a ramp in seconds a mean of rates.
    mean = harmonic_mean(rates) if limits.ramp_up_end_rps is not None else fmean(rates)
    return max(1, round(mean * seconds))


def _end_rate(limits: Limits) -> float:
    """Return the requests a second at the end of the ramp, or of the whole load.

    Raises:
        ConfigError: there is no rate, or it is out of range.
    """
    end = limits.ramp_up_end_rps if limits.ramp_up_end_rps is not None else limits.request_rate
    if end is None or not LEAST_RATE <= end <= MOST_RATE:
        what = f"a load needs a request_rate from {LEAST_RATE:g} to {MOST_RATE:,.0f}, not {end}"
        raise ConfigError(what, where="request_rate", fix="without request_rate, max_concurrency clients ask at once")
    return end


def _arrivals(requests: int, limits: Limits, seed: int) -> list[float]:
    """Return the times of arrivals in seconds."""
    end = _end_rate(limits)
    shape = POISSON if limits.burstiness is None else limits.burstiness
    draws, times, time = random.Random(seed), [], 0.0
    for number in range(requests):
        # Gamma with this shape and scale has the mean interval of the rate, whatever the burstiness.
        mean = 1 / _rate_at(limits, end, time, number / max(requests - 1, 1))
        time += draws.gammavariate(shape, mean / shape) if shape else mean
        times.append(time)
    # A ramp has no single rate that the sum of intervals could be scaled to.
    if limits.ramp_up_strategy is not None or not time:
        return times
    scale = requests / end / time
    return [time * scale for time in times]


def _rate_at(limits: Limits, end: float, seconds: float, share: float) -> float:
    """Return the requests a second after so many seconds, and after this share of all requests.

    With ``ramp_up_end_rps`` the ramp goes over all requests, as in AISBench and vLLM; else over ``ramp_up_seconds``.
    """
    if limits.ramp_up_strategy is None:
        return end
    length = 1.0 if limits.ramp_up_end_rps is not None else limits.ramp_up_seconds
    ramp = Ramp(limits.ramp_up_strategy, limits.ramp_up_start_rps, end, length)
    return ramp.rate(share if limits.ramp_up_end_rps is not None else seconds)
