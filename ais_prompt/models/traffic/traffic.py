"""The limits of an account at one address: slots, rates and outages. All models that ask with it share them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from ais_prompt.models.options import Limits
from ais_prompt.models.traffic.outage import Outage
from ais_prompt.models.traffic.pace import AdaptiveLimit, Ramp, RequestRate, TokenRate
from ais_prompt.models.traffic.retry import THROTTLED, Attempt, is_temporary

_OVERLOADED: Final = (*THROTTLED, "timeout")


class Waiter(Protocol):
    """A request that waits for a slot at one of several addresses."""

    def try_slot(self) -> None:
        """Take a slot if there is one."""


class Traffic:
    """Slots, rate limits and outages of an account at one address. It belongs to the event loop in which it is made.

    Args:
        address: where requests go, without secrets.

    Attributes:
        outage: whether the server is down.
        load: slots that are taken.
        waiters: requests that wait for a slot here, in order.
    """

    def __init__(self, address: str) -> None:
        self.outage = Outage(address)
        self.load = 0
        self.waiters: dict[Waiter, None] = {}
        self._most = 0
        self._adaptive: AdaptiveLimit | None = None
        self._rates: dict[tuple[object, ...], RequestRate] = {}
        self._tokens: dict[float, TokenRate] = {}
        self._probing = False
        self._rests_until = 0.0  # 0 where it never rested

    def add_limits(self, limits: Limits) -> None:
        """Let the limits of a further model apply to all requests: each rate, and as many slots as any model has."""
        self._most = max(self._most, limits.max_concurrency)
        if limits.adaptive and self._adaptive is None:
            self._adaptive = AdaptiveLimit(self._most)
        if self._adaptive is not None:
            self._adaptive.most = self._most
        if limits.request_rate is not None:
            start = limits.request_rate if limits.ramp_up_strategy is None else limits.ramp_up_start_rps
            ramp = Ramp(limits.ramp_up_strategy or "linear", start, limits.request_rate, limits.ramp_up_seconds)
            options = (ramp, limits.burstiness, limits.interval_seed)
            if options not in self._rates:  # models with the same rate share one
                self._rates[options] = RequestRate(*options)
        if limits.tokens_per_minute is not None:
            self._tokens.setdefault(limits.tokens_per_minute, TokenRate(limits.tokens_per_minute))

    def is_up(self) -> bool:
        """Return whether the server takes requests: there is no outage, and it does not rest."""
        return not self.outage.lasts and _is_over(self._rests_until)

    def is_due(self) -> bool:
        """Return whether a request may probe the server: there is an outage, and it is time to look."""
        return self.outage.lasts and not self._probing and _is_over(self.outage.next_probe)

    def has_room(self) -> bool:
        """Return whether a request may take a slot now."""
        limit = self._most if self._adaptive is None else self._adaptive.limit
        return self.load < limit and (self.is_up() or self.is_due())

    def enter(self) -> Callable[[], None]:
        """Take a slot, and return what gives it back. During an outage the request is a probe."""
        self.load += 1
        if not self.outage.lasts:
            return self._leave
        self._probing = True
        return self._end_probe

    def _leave(self) -> None:
        self.load -= 1
        self.serve()

    def _end_probe(self) -> None:
        self._probing = False
        self._leave()

    def serve(self) -> None:
        """Give free slots to the requests that wait, in their order."""
        for waiter in list(self.waiters) if self.waiters else ():
            if not self.has_room():
                return
            waiter.try_slot()

    def _send_elsewhere(self) -> None:
        """Let the requests that wait look for a slot at another address."""
        for waiter in list(self.waiters):
            waiter.try_slot()

    def rest(self, seconds: float) -> None:
        """Send nothing for so long: the server throttles, and others take its requests."""
        self._rests_until = max(self._rests_until, now() + seconds)
        self._serve_at(self._rests_until)
        self._send_elsewhere()

    @property
    def has_rates(self) -> bool:
        """Whether a request may have to wait for its start or its tokens."""
        return bool(self._rates or self._tokens)

    def seconds_to_start(self) -> float:
        """Reserve the next start, and return the seconds until then."""
        return max((rate.reserve(now()) for rate in self._rates.values()), default=0.0)

    def seconds_to_tokens(self, tokens: float) -> float:
        """Reserve tokens, and return the seconds until they may be used."""
        return max((rate.reserve(tokens, now()) for rate in self._tokens.values()), default=0.0)

    def record(self, attempt: Attempt, seconds: float, tokens: float) -> None:
        """Record an attempt in the limits.

        Args:
            attempt: its outcome.
            seconds: how long it took.
            tokens: how many were reserved.
        """
        completion = attempt.completion
        for rate in self._tokens.values():
            used = (completion.usage.prompt_tokens or 0) + (completion.usage.completion_tokens or 0)
            # Without a count the expected tokens are used up; a failure uses none.
            rate.settle(tokens, used or (0 if completion.failure else tokens), now())
        if self._adaptive is None:
            return
        if completion.failure is None:
            self._adaptive.answered(seconds)
        elif completion.failure.kind in _OVERLOADED:
            self._adaptive.overloaded(now())

    def note_outcome(self, attempt: Attempt, *, spare: bool, gone: bool) -> bool:
        """Begin, continue or end an outage.

        Args:
            attempt: the outcome of an attempt.
            spare, gone: as for `Outage.failed`.

        Returns:
            Whether the attempt failed because of an outage, which does not use up a retry.
        """
        failure = attempt.completion.failure
        if failure is None or not is_temporary(failure):
            self.outage.answered()
            return False
        part = self.outage.failed(failure, attempt.retry_after or 0.0, now(), spare=spare, gone=gone)
        if self.outage.lasts:
            self._serve_at(self.outage.next_probe)
            self._send_elsewhere()
        return part

    def _serve_at(self, moment: float) -> None:
        if now() >= moment:
            self.serve()
        else:  # again, if the timer is a little early
            asyncio.get_running_loop().call_at(moment, self._serve_at, moment)


_traffic: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str], Traffic]] = WeakKeyDictionary()
# A `Traffic` must not refer to its loop, or neither would ever be freed.


def traffic_at(address: str, limits: Limits, account: str = "") -> Traffic:
    """Return the traffic of an address in the running event loop, and add the limits of a model to it.

    Args:
        address: where requests go, without secrets.
        limits: of the model.
        account: who asks, see `ais_prompt.models.transport.credentials.account_of`: providers limit accounts.
    """
    there = _traffic.setdefault(asyncio.get_running_loop(), {})
    traffic = there.setdefault((address, account), Traffic(address))
    traffic.add_limits(limits)
    return traffic


def now() -> float:
    """Return the time of the running event loop in seconds."""
    return asyncio.get_running_loop().time()


def _is_over(moment: float) -> bool:
    return not moment or now() >= moment
