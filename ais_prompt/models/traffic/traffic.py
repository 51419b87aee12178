"""Send requests to one server: rate limits, retries and outages together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from ais_prompt.models.options import Limits, Retry
from ais_prompt.models.traffic.outage import OUTAGE_LIMIT_SECONDS, Outage
from ais_prompt.models.traffic.pace import AdaptiveLimit, Ramp, RequestRate, TokenRate
from ais_prompt.models.traffic.retry import Attempt, is_temporary, wait_before_retry
from ais_prompt.types import Activity, Completion, Failure

_THROTTLED: Final = ("http_429", "http_503")
_OVERLOADED: Final = (*_THROTTLED, "timeout")


class Traffic:
    """Rate limits, retries and outages of one model. It belongs to the event loop in which it is made.

    Args:
        limits: how fast requests go, and how long they may take; the caller keeps to ``max_concurrency`` too.
        retry: when a failed request is retried.
    """

    def __init__(self, limits: Limits, retry: Retry) -> None:
        self._retry = retry
        self._deadline = limits.deadline
        self._longest_wait = OUTAGE_LIMIT_SECONDS if limits.deadline is None else limits.deadline
        self._outage = Outage()
        self._rate = _request_rate(limits)
        self._tokens = TokenRate(limits.tokens_per_minute) if limits.tokens_per_minute else None
        self._limit = AdaptiveLimit(limits.max_concurrency) if limits.adaptive else None
        self._clock = asyncio.get_running_loop().time
        self._probing = asyncio.Lock()
        self._freed = asyncio.Condition()
        self._in_flight = 0
        self._throttled = 0  # throttled requests that keep their slot while they wait
        self._held_back = 0  # requests that wait for the end of an outage
        self._waits: dict[object, tuple[float, str]] = {}  # until when, and why

    def activity(self) -> Activity:
        """Return the requests in flight, and what the others wait for."""
        until, reason = min(self._waits.values(), default=(0.0, ""))
        waiting = len(self._waits) + self._held_back
        if self._held_back:
            until, reason = self._outage.next_probe, self._outage.reason
        return Activity(self._in_flight, waiting, reason, max(0.0, until - self._clock()) if waiting else 0.0)

    async def ask(self, once: Callable[[], Awaitable[Attempt]], tokens: float = 0) -> Completion:
        """Make attempts until there is an answer, or until a retry makes no sense.

        Args:
            once: makes one attempt; failures are returned, not raised.
            tokens: expected tokens of the request, for a limit of tokens.

        Returns:
            The completion of the last attempt, with its seconds and the number of attempts.
        """
        if self._deadline is None:
            return await self._ask(once, tokens)
        try:
            async with asyncio.timeout(self._deadline):
                return await self._ask(once, tokens)
        except TimeoutError:
            words = f"no answer within {self._deadline:g} s, all attempts together"
            return Completion(failure=Failure("deadline", words))

    async def _ask(self, once: Callable[[], Awaitable[Attempt]], tokens: float) -> Completion:
        asked = counted = 0
        started = self._clock()
        while True:
            await self._wait_for_turn(tokens)
            attempt, seconds = await self._attempt(once)
            asked += 1
            time_left = max(0.0, self._longest_wait - (self._clock() - started))
            waits_too_long = attempt.completion.failure is not None and (attempt.retry_after or 0.0) > time_left
            in_outage = not waits_too_long and self._is_part_of_outage(attempt)
            counted += not (in_outage or self._is_throttled(attempt, started))
            self._record(attempt, seconds, tokens)
            wait = wait_before_retry(self._retry, attempt, counted, time_left)
            if wait is None:
                completion = _with_reason(attempt) if waits_too_long else attempt.completion
                return replace(completion, seconds=seconds, attempts=asked)
            failure = attempt.completion.failure
            if failure is not None and not self._outage.lasts:
                await self._wait_before_retry(wait, failure)

    async def _wait_for_turn(self, tokens: float) -> None:
        if self._rate is not None:
            await self._wait(self._rate.reserve(self._clock()), "request_rate")
        if self._tokens is not None:
            await self._wait(self._tokens.reserve(tokens, self._clock()), "tokens_per_minute")

    async def _attempt(self, once: Callable[[], Awaitable[Attempt]]) -> tuple[Attempt, float]:
        """Make one attempt, and return it with its seconds; during an outage only one request at a time probes."""
        if self._outage.lasts and await self._wait_to_probe():
            try:
                return await self._send(once)
            finally:
                self._probing.release()
        return await self._send(once)

    async def _wait_to_probe(self) -> bool:
        """Wait for the end of an outage; True if this request is the next probe, which then releases `_probing`."""
        self._held_back += 1
        try:
            await self._probing.acquire()
            if not self._outage.lasts:
                self._probing.release()
                return False
            try:
                await asyncio.sleep(self._outage.next_probe - self._clock())
            except BaseException:
                self._probing.release()
                raise
            return True
        finally:
            self._held_back -= 1

    async def _send(self, once: Callable[[], Awaitable[Attempt]]) -> tuple[Attempt, float]:
        if (limit := self._limit) is not None:
            async with self._freed:
                await self._freed.wait_for(lambda: self._in_flight + self._throttled < limit.limit)
        self._in_flight += 1
        started = self._clock()
        try:
            attempt = await once()
            return attempt, self._clock() - started
        finally:
            self._in_flight -= 1
            await self._free()

    async def _wait_before_retry(self, seconds: float, failure: Failure) -> None:
        """Wait before a retry.

        A throttled request keeps its slot while it waits, so that others do not run into the same limit.
        """
        throttled = failure.kind in _THROTTLED
        self._throttled += throttled
        try:
            await self._wait(seconds, failure.kind)
        finally:
            self._throttled -= throttled
            await self._free()

    async def _free(self) -> None:
        """Wake the requests that wait for a slot."""
        if self._limit is not None:
            async with self._freed:
                self._freed.notify_all()

    def _is_part_of_outage(self, attempt: Attempt) -> bool:
        """Return whether an attempt failed because of an outage, which does not use up a retry."""
        failure = attempt.completion.failure
        if failure is None or not is_temporary(failure):
            self._outage.answered()
            return False
        return self._outage.failed(failure, attempt.retry_after or 0.0, self._clock())

    def _is_throttled(self, attempt: Attempt, started: float) -> bool:
        """Return whether the server throttled this request for an acceptable time, which does not use up a retry."""
        failure = attempt.completion.failure
        put_off = failure is not None and failure.kind in _THROTTLED and attempt.retry_after is not None
        return put_off and self._clock() - started < self._longest_wait

    def _record(self, attempt: Attempt, seconds: float, tokens: float) -> None:
        """Record an attempt in the limits."""
        completion = attempt.completion
        if self._tokens is not None:
            used = (completion.usage.prompt_tokens or 0) + (completion.usage.completion_tokens or 0)
            # Without a count the expected tokens are used up; a failure uses none.
            self._tokens.settle(tokens, used or (0 if completion.failure else tokens), self._clock())
        if self._limit is None:
            return
        if completion.failure is None:
            self._limit.answered(seconds)
        elif completion.failure.kind in _OVERLOADED:
            self._limit.overloaded(self._clock())

    async def _wait(self, seconds: float, reason: str) -> None:
        if seconds <= 0:
            return
        wait = object()
        self._waits[wait] = (self._clock() + seconds, reason)
        try:
            await asyncio.sleep(seconds)
        finally:
            del self._waits[wait]


def _with_reason(attempt: Attempt) -> Completion:
    """Return the completion of an attempt with a too long ``Retry-After``, which its failure then names."""
    failure = attempt.completion.failure
    assert failure is not None
    words = f"{failure.message}; its Retry-After of {attempt.retry_after:.0f} s is longer than a request may wait"
    return replace(attempt.completion, failure=replace(failure, message=words))


def _request_rate(limits: Limits) -> RequestRate | None:
    if limits.request_rate is None:
        return None
    start = limits.request_rate if limits.ramp_up_strategy is None else limits.ramp_up_start_rps
    ramp = Ramp(limits.ramp_up_strategy or "linear", start, limits.request_rate, limits.ramp_up_seconds)
    return RequestRate(ramp, limits.burstiness, limits.interval_seed)
