"""The way of a request to a server: when it may go, whether it goes again, and what it waits for meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from ais_prompt.models.options import Limits, Retry
from ais_prompt.models.traffic.outage import PATIENCE, Outage
from ais_prompt.models.traffic.pace import AdaptiveLimit, Ramp, RequestRate, TokenRate
from ais_prompt.models.traffic.retry import Attempt, is_passing, wait_before_retry
from ais_prompt.types import Activity, Completion, Failure

_REFUSED: Final = ("http_429", "http_503")
_CHOKED: Final = (*_REFUSED, "timeout")


class Traffic:
    """Lets the requests of one model pass. It belongs to the event loop in which it is made.

    Args:
        limits: how fast requests go, and how long they may take; the caller keeps to ``max_concurrency`` too.
        retry: when a failed request is sent again.
    """

    def __init__(self, limits: Limits, retry: Retry) -> None:
        self._retry = retry
        self._deadline = limits.deadline
        self._patience = PATIENCE if limits.deadline is None else limits.deadline
        self._outage = Outage()
        self._rate = _request_rate(limits)
        self._tokens = TokenRate(limits.tokens_per_minute) if limits.tokens_per_minute else None
        self._limit = AdaptiveLimit(limits.max_concurrency) if limits.adaptive else None
        self._clock = asyncio.get_running_loop().time
        self._looking = asyncio.Lock()
        self._freed = asyncio.Condition()
        self._in_flight = 0
        self._refused = 0  # requests that wait because the server had too many
        self._held_back = 0  # requests that wait for the end of an outage
        self._waits: dict[object, tuple[float, str]] = {}  # until when, and why

    def activity(self) -> Activity:
        """What is going on in this moment."""
        until, reason = min(self._waits.values(), default=(0.0, ""))
        waiting = len(self._waits) + self._held_back
        if self._held_back:
            until, reason = self._outage.next_look, self._outage.reason
        return Activity(self._in_flight, waiting, reason, max(0.0, until - self._clock()) if waiting else 0.0)

    async def ask(self, once: Callable[[], Awaitable[Attempt]], tokens: float = 0) -> Completion:
        """Ask until there is an answer, or until asking again makes no sense.

        Args:
            once: makes one attempt; failures are returned, not raised.
            tokens: what the request is expected to take.

        Returns:
            The last attempt's completion, with its time and the number of attempts.
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
            time_left = max(0.0, self._patience - (self._clock() - started))
            asks_too_much = attempt.completion.failure is not None and (attempt.retry_after or 0.0) > time_left
            of_server = not asks_too_much and self._is_failure_of_server(attempt)
            counted += not (of_server or self._is_throttled(attempt, started))
            self._learn(attempt, seconds, tokens)
            wait = wait_before_retry(self._retry, attempt, counted, time_left)
            if wait is None:
                completion = _with_reason(attempt) if asks_too_much else attempt.completion
                return replace(completion, seconds=seconds, attempts=asked)
            failure = attempt.completion.failure
            if failure is not None and not self._outage.lasts:
                await self._rest(wait, failure)

    async def _wait_for_turn(self, tokens: float) -> None:
        if self._rate is not None:
            await self._wait(self._rate.reserve(self._clock()), "request_rate")
        if self._tokens is not None:
            await self._wait(self._tokens.reserve(tokens, self._clock()), "tokens_per_minute")

    async def _attempt(self, once: Callable[[], Awaitable[Attempt]]) -> tuple[Attempt, float]:
        """One attempt and its seconds; during an outage only one at a time, which looks whether the server is back."""
        if self._outage.lasts and await self._looks():
            try:
                return await self._send(once)
            finally:
                self._looking.release()
        return await self._send(once)

    async def _looks(self) -> bool:
        """Wait for the end of an outage; True if this request is the one that looks, and releases `_looking` then."""
        self._held_back += 1
        try:
            await self._looking.acquire()
            if not self._outage.lasts:
                self._looking.release()
                return False
            try:
                await asyncio.sleep(self._outage.next_look - self._clock())
            except BaseException:
                self._looking.release()
                raise
            return True
        finally:
            self._held_back -= 1

    async def _send(self, once: Callable[[], Awaitable[Attempt]]) -> tuple[Attempt, float]:
        if (limit := self._limit) is not None:
            async with self._freed:
                await self._freed.wait_for(lambda: self._in_flight + self._refused < limit.limit)
        self._in_flight += 1
        started = self._clock()
        try:
            attempt = await once()
            return attempt, self._clock() - started
        finally:
            self._in_flight -= 1
            await self._free()

    async def _rest(self, seconds: float, failure: Failure) -> None:
        """Wait before the next attempt. Who was refused keeps the place meanwhile: others would be refused as well."""
        refused = failure.kind in _REFUSED
        self._refused += refused
        try:
            await self._wait(seconds, failure.kind)
        finally:
            self._refused -= refused
            await self._free()

    async def _free(self) -> None:
        """Let those look again who wait for a place."""
        if self._limit is not None:
            async with self._freed:
                self._freed.notify_all()

    def _is_failure_of_server(self, attempt: Attempt) -> bool:
        """Whether it failed because the server is away, which is no fault of the request."""
        failure = attempt.completion.failure
        if failure is None or not is_passing(failure):
            self._outage.answered()
            return False
        return self._outage.failed(failure, attempt.retry_after or 0.0, self._clock())

    def _is_throttled(self, attempt: Attempt, started: float) -> bool:
        """Whether the server has put this request off, for not too long: that is no failure of the request."""
        failure = attempt.completion.failure
        put_off = failure is not None and failure.kind in _REFUSED and attempt.retry_after is not None
        return put_off and self._clock() - started < self._patience

    def _learn(self, attempt: Attempt, seconds: float, tokens: float) -> None:
        """Let the limits know what came of an attempt."""
        completion = attempt.completion
        if self._tokens is not None:
            used = (completion.usage.prompt_tokens or 0) + (completion.usage.completion_tokens or 0)
            # What nobody counted took what it was expected to take; a failure took nothing.
            self._tokens.settle(tokens, used or (0 if completion.failure else tokens), self._clock())
        if self._limit is None:
            return
        if completion.failure is None:
            self._limit.answered(seconds)
        elif completion.failure.kind in _CHOKED:
            self._limit.choked(self._clock())

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
    """The completion of an attempt after which the server asks for too long a wait; its failure says so."""
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
