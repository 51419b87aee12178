"""Ask the servers of a model: from a request to its completion.

One request passes through these steps, each of which encloses the next:

    Dispatcher.ask                   the whole request
      _ask_within_deadline           with a limit of time for all attempts together
        _ask_with_retries            attempts, until there is an answer or a retry makes no sense
          _take_free_slot            a place at a replica: the least loaded one, or the one that knows the conversation
          _wait_for_slot             the same in a queue, while all are busy or away
            _wait_for_turn           the rate limits of that address (`pace`)
            _attempt                 one request on the wire
            _wait_after              what the attempt means: an answer, a retry here or elsewhere, a failure

An *attempt* is one exchange with one server. A *retry* is a further attempt of the same request. A *replica* is one of
several servers of a model. A `Traffic` holds what all models share that ask one address: slots, rates, and whether the
server is away (`ais_prompt.models.api.outage`), which costs time, not retries.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.models.api.outage import AWAY, OUTAGE_LIMIT_SECONDS, Outage
from ais_prompt.models.api.pace import AdaptiveLimit, Ramp, RequestRate, TokenRate
from ais_prompt.models.model_options import Limits, Retry
from ais_prompt.models.transport.base import Transport
from ais_prompt.types import Activity, Completion, Failure

_TEMPORARY_KINDS: Final = {
    "unreachable",
    "connection",
    "timeout",
    "broken_stream",
    "broken_answer",
    "bad_body",
    "empty_choices",
    "http_408",  # request timeout
    "http_409",  # conflict: some servers return it while they load a model
    "http_425",  # too early
    "http_429",  # too many requests
}
_OUTAGE_KINDS: Final = ("unreachable", "connection", "broken_stream", "timeout")
"""With HTTP 5xx, what the requests of a server that is down fail with, directly or behind a gateway."""
THROTTLED: Final = ("http_429", "http_503", "http_529")
"""The server has too much to do; 529 is Anthropic's status for it."""
_OVERLOADED: Final = (*THROTTLED, "timeout")


class Attempt(Struct, frozen=True):
    """The outcome of one attempt.

    Attributes:
        completion: the answer or the failure.
        retry_after: seconds of the ``Retry-After`` header; None without one.
    """

    completion: Completion
    retry_after: float | None = None


class Replica(Struct, frozen=True, eq=False):
    """One server of a model.

    Attributes:
        address: its base URL, without secrets.
        transport: sends requests to it.
        traffic: its limits, shared by all models that ask there.
    """

    address: str
    transport: Transport
    traffic: Traffic


Once: TypeAlias = Callable[[Transport], Awaitable[Attempt]]
"""Makes one attempt with the transport of a replica. Failures are returned, not raised."""

_Slot: TypeAlias = tuple[Replica, Callable[[], None]]
"""A replica, and the function that gives the slot there back."""

HOMES: Final = 4
"""Conversations whose replicas are known, for each request under way. The oldest are forgotten: most are over."""


class Dispatcher:
    """Asks the replicas of one model. It belongs to the event loop in which it is made.

    The least loaded replica that is up gets the next request. A conversation stays on one replica as long as that is
    up, for the sake of its prefix cache.

    Args:
        replicas: the servers.
        retry: when a failed request is retried.
        deadline: seconds of a request with all its attempts; None for no limit.
    """

    def __init__(self, replicas: Sequence[Replica], retry: Retry, deadline: float | None) -> None:
        self.replicas = tuple(replicas)
        self._retired: list[Replica] = []
        self._retry = retry
        self._deadline = deadline
        self._longest_wait = OUTAGE_LIMIT_SECONDS if deadline is None else deadline
        self._clock = asyncio.get_running_loop().time  # `activity` is called by other threads
        self._in_flight = 0
        self._held_back: dict[_Waiter, None] = {}  # requests that wait for a slot
        self._waits: dict[object, tuple[float, str]] = {}  # until when, and why
        self._homes: dict[str, Replica] = {}  # conversation → the replica that has answered in it

    def change(self, replicas: Sequence[Replica]) -> None:
        """Ask other replicas from now on, at least one. Requests that the former replicas have already go on."""
        self._retired += [replica for replica in self.replicas if replica not in replicas]
        self.replicas = tuple(replicas)
        for waiter in list(self._held_back):
            waiter.move([replica.traffic for replica in self.replicas])

    async def close(self) -> None:
        """Close the connections to all replicas, past ones included."""
        for replica in (*self.replicas, *self._retired):
            await replica.transport.close()

    def activity(self) -> Activity:
        """Return the requests in flight, and why the others wait."""
        until, reason = min(self._waits.values(), default=(0.0, ""))
        waiting = len(self._waits)
        outages = [replica.traffic.outage for replica in self.replicas]
        if self._held_back and all(outage.lasts for outage in outages):
            waiting += len(self._held_back)
            until, reason = min((outage.next_probe, outage.reason) for outage in outages)
        now, several = self._clock(), len(self.replicas) > 1
        away = tuple(
            (replica.address if several else "", outage.seconds(now))
            for replica, outage in zip(self.replicas, outages, strict=True)
            if outage.lasts and outage.reason == AWAY
        )
        return Activity(self._in_flight, waiting, reason, max(0.0, until - now) if waiting else 0.0, away)

    def ask(self, once: Once, tokens: float = 0, conversation: str = "") -> Awaitable[Completion]:
        """Make attempts until there is an answer, or until a retry makes no sense.

        Args:
            once: makes one attempt.
            tokens: expected tokens of the request, for a limit of tokens.
            conversation: name of the conversation; requests with the same name stay on one replica. Empty for none.

        Returns:
            The completion of the last attempt, with its seconds, the number of attempts and, if there are several
            replicas, the address of the replica that answered.
        """
        asking = _Asking(once, tokens, conversation, self._homes.pop(conversation, None), self._clock())
        if self._deadline is None:
            return self._ask_with_retries(asking)
        return self._ask_within_deadline(asking, self._deadline)

    async def ask_once(self, once: Once) -> Completion:
        """Make one attempt at the least loaded replica, past all limits: to measure a load, nothing is held back."""
        replica = min(self.replicas, key=lambda one: one.traffic.load)
        asking = _Asking(once, 0, "", None, self._clock())
        asking.attempts = 1
        leave = replica.traffic.enter()
        try:
            attempt, seconds = await self._attempt(replica, once)
        finally:
            leave()
        return self._finished(asking, replica, attempt.completion, seconds)

    async def _ask_within_deadline(self, asking: _Asking, seconds: float) -> Completion:
        try:
            async with asyncio.timeout(seconds):
                return await self._ask_with_retries(asking)
        except TimeoutError:
            return Completion(failure=Failure("deadline", f"no answer within {seconds:g} s, all attempts together"))

    async def _ask_with_retries(self, asking: _Asking) -> Completion:
        try:
            while True:
                # Held back: it has no slot yet, while all replicas are busy, rest or are away.
                replica, leave = self._take_free_slot(asking) or await self._wait_for_slot(asking)
                try:
                    # It has a slot, and waits for its start and its tokens.
                    if replica.traffic.has_rates and not await self._wait_for_turn(replica, asking.tokens):
                        continue  # an outage has begun meanwhile
                    # In flight.
                    if not asking.attempts:
                        asking.waited = round(self._clock() - asking.started, 3)
                    asking.sent += 1
                    attempt, seconds = await self._attempt(replica, asking.once)
                    wait = self._wait_after(asking, replica, attempt, seconds)
                    if isinstance(wait, Completion):
                        return wait  # answered, or failed for good
                    # Throttled. It keeps its slot while it waits, so that others do not run into the same limit.
                    if wait and wait.reason in THROTTLED:
                        await self._wait(wait)
                        wait = None
                finally:
                    leave()
                # Backing off, without a slot. Where there is nothing to wait for, it looks for a slot again at once.
                if wait:
                    await self._wait(wait)
        except asyncio.CancelledError as cancelled:
            cancelled.args = (asking.sent,)  # a task that ends cancels requests that wait, and others in flight
            raise

    def _take_free_slot(self, asking: _Asking) -> _Slot | None:
        """Take a slot that is free now; None if there is none, or others wait for it."""
        others_wait = any(replica.traffic.waiters for replica in self.replicas)
        free = None if others_wait and self._stays(asking) is None else self._choose(asking)
        return (free, free.traffic.enter()) if free else None

    async def _wait_for_slot(self, asking: _Asking) -> _Slot:
        """Wait for a slot after the requests that wait already."""
        waiter = _Waiter(lambda: self._choose(asking), [replica.traffic for replica in self.replicas])
        self._held_back[waiter] = None
        waiter.queue()
        try:
            return await waiter.slot
        except asyncio.CancelledError:
            waiter.give_up()
            raise
        finally:
            del self._held_back[waiter]

    def _choose(self, asking: _Asking) -> Replica | None:
        """Return the replica for a request; None if none has a slot now."""
        if stays := self._stays(asking):
            return stays if stays.traffic.has_room() else None
        failed = asking.failed
        if failed and not any(one.traffic.is_up() and one not in failed for one in self.replicas):
            failed = set()
        chosen = None
        for replica in self.replicas:
            if not replica.traffic.has_room():
                continue
            if replica.traffic.outage.lasts:
                return replica  # it is time to probe it
            if replica not in failed and (chosen is None or replica.traffic.load < chosen.traffic.load):
                chosen = replica
        return chosen

    def _stays(self, asking: _Asking) -> Replica | None:
        """Return the replica that has answered in this conversation; None if that is down or gone."""
        home = asking.home
        if home is None or home in asking.failed or home.traffic.outage.lasts or home not in self.replicas:
            return None
        return home

    async def _wait_for_turn(self, replica: Replica, tokens: float) -> bool:
        """Wait for the rate limits; False if the replica is down afterwards."""
        is_probe = replica.traffic.outage.lasts
        await self._wait(_Wait(replica.traffic.seconds_to_start(), "request_rate"))
        await self._wait(_Wait(replica.traffic.seconds_to_tokens(tokens), "tokens_per_minute"))
        return is_probe or not replica.traffic.outage.lasts

    async def _attempt(self, replica: Replica, once: Once) -> tuple[Attempt, float]:
        """Make one attempt, and return it with its seconds."""
        self._in_flight += 1
        started = self._clock()
        try:
            attempt = await once(replica.transport)
            return attempt, self._clock() - started
        finally:
            self._in_flight -= 1

    def _wait_after(
        self, asking: _Asking, replica: Replica, attempt: Attempt, seconds: float
    ) -> Completion | _Wait | None:
        """Record an attempt. Return its completion if it is the last one, else how long to wait for the next one."""
        traffic, failure = replica.traffic, attempt.completion.failure
        asking.attempts += 1
        # It was answered.
        if failure is None:
            traffic.outage.answered()
            traffic.record(attempt, seconds, asking.tokens)
            return self._finished(asking, replica, attempt.completion, seconds)
        if asking.attempts == 1:
            asking.answers = self._count_answers()
        asking.meets_outage &= failure.kind in _OUTAGE_KINDS or failure.kind.startswith("http_5")
        time_left = max(0.0, self._longest_wait - (self._clock() - asking.started))
        waits_too_long = (attempt.retry_after or 0.0) > time_left
        # It uses up a retry, unless another replica takes it, the server is away, or the server named a time.
        throttled = failure.kind in THROTTLED
        moves = throttled and self._may_move(asking, replica, waits_too_long=waits_too_long)
        in_outage = not waits_too_long and self._is_part_of_outage(asking, replica, attempt, failure)
        put_off = throttled and attempt.retry_after is not None and time_left > 0
        asking.counted += not (in_outage or moves or put_off)
        traffic.record(attempt, seconds, asking.tokens)
        asking.failed.add(replica)
        # It was throttled here, and another replica takes it at once.
        if moves:
            pause = self._retry.first_wait if attempt.retry_after is None else attempt.retry_after
            traffic.rest(min(pause, OUTAGE_LIMIT_SECONDS))
            return None
        if asking.failed.issuperset(self.replicas):
            asking.failed.clear()
        # It is retried: during an outage as soon as it has a slot, which comes with a probe.
        wait = wait_before_retry(self._retry, attempt, asking.counted, time_left)
        if wait is not None:
            return None if traffic.outage.lasts else _Wait(wait, failure.kind)
        # It has failed for good.
        completion = _with_reason(attempt) if waits_too_long else attempt.completion
        return self._finished(asking, replica, completion, seconds)

    def _finished(self, asking: _Asking, replica: Replica, completion: Completion, seconds: float) -> Completion:
        """Return the completion of the last attempt, with the figures of all attempts together."""
        if completion.failure is None and asking.conversation and len(self.replicas) > 1:
            self._homes[asking.conversation] = replica
            under_way = 1 + self._in_flight + len(self._held_back) + len(self._waits)
            while len(self._homes) > HOMES * under_way:
                del self._homes[next(iter(self._homes))]
        address = replica.address if len(self.replicas) > 1 else ""
        return replace(
            completion, seconds=seconds, attempts=asking.attempts, replica=address, waited_seconds=asking.waited
        )

    def _may_move(self, asking: _Asking, replica: Replica, *, waits_too_long: bool) -> bool:
        """Return whether another replica takes a request that this one throttled."""
        if not waits_too_long and self._stays(asking) is replica:
            return False
        others = (other for other in self.replicas if other is not replica and other not in asking.failed)
        return replica not in asking.failed and any(other.traffic.is_up() for other in others)

    def _is_part_of_outage(self, asking: _Asking, replica: Replica, attempt: Attempt, failure: Failure) -> bool:
        """Begin, continue or end an outage. Return whether the attempt failed because of one."""
        traffic = replica.traffic
        if not is_temporary(failure):
            traffic.outage.answered()
            return False
        outages = [other.traffic.outage for other in self.replicas]
        spare = any(not outage.lasts for outage in outages if outage is not traffic.outage)
        gone = all(outage.seconds(self._clock()) > outage.limit for outage in outages)
        # Behind a gateway an outage looks like this: no attempt of the request was answered, nor any other request.
        is_last = 0 < self._retry.retries <= asking.counted
        exhausted = is_last and asking.meets_outage and asking.answers == self._count_answers()
        pause = attempt.retry_after or 0.0
        is_part = traffic.outage.failed(failure, pause, now(), asking, spare=spare, gone=gone, exhausted=exhausted)
        if traffic.outage.lasts:
            traffic.pause_until(traffic.outage.next_probe)
        return is_part

    def _count_answers(self) -> int:
        """Return how many requests the replicas have answered, good or bad."""
        return sum(replica.traffic.outage.answers for replica in self.replicas)

    async def _wait(self, wait: _Wait) -> None:
        if wait.seconds <= 0:
            return
        token = object()
        self._waits[token] = (self._clock() + wait.seconds, wait.reason)
        try:
            await asyncio.sleep(wait.seconds)
        finally:
            del self._waits[token]


class _Asking(Struct, eq=False):
    """A request on its way.

    Attributes:
        once, tokens, conversation: as for `Dispatcher.ask`.
        home: the replica that answered in this conversation before; None at its beginning.
        started: when it began.
        waited: seconds before its first attempt.
        attempts, counted: attempts so far, and those that use up a retry.
        sent: attempts that were begun, that under way included.
        answers: what the replicas had answered when it failed first.
        meets_outage: whether all attempts so far failed as in an outage.
        failed: replicas that failed it; it prefers the others.
    """

    once: Once
    tokens: float
    conversation: str
    home: Replica | None
    started: float
    waited: float = 0.0
    attempts: int = 0
    sent: int = 0
    counted: int = 0
    answers: int = 0
    meets_outage: bool = True
    failed: set[Replica] = field(default_factory=set)


class _Wait(Struct, frozen=True):
    """A wait of so many seconds, and its reason."""

    seconds: float
    reason: str


class _Waiter:
    """A request that waits for a slot at one of its replicas.

    Attributes:
        slot: the replica, and the function that gives the slot back.
        at: the traffic of the addresses where it waits.
    """

    def __init__(self, choose: Callable[[], Replica | None], at: Sequence[Traffic]) -> None:
        self._choose = choose
        self.at = at
        self.slot: asyncio.Future[_Slot] = asyncio.get_running_loop().create_future()

    def queue(self) -> None:
        """Wait for a slot after the requests that wait already."""
        for traffic in self.at:
            traffic.waiters[self] = None
        for traffic in self.at:  # those before may wait for another address
            traffic.serve()

    def try_slot(self) -> None:
        """Take a slot if there is one."""
        if not self.slot.done() and (replica := self._choose()):
            self._leave_queue()
            self.slot.set_result((replica, replica.traffic.enter()))

    def move(self, at: Sequence[Traffic]) -> None:
        """Wait at other addresses."""
        if not self.slot.done():
            self._leave_queue()
            self.at = at
            self.queue()

    def give_up(self) -> None:
        """Wait no longer; a slot that was just given is given back."""
        self._leave_queue()
        if self.slot.done() and not self.slot.cancelled():
            _, leave = self.slot.result()
            leave()

    def _leave_queue(self) -> None:
        for traffic in self.at:
            traffic.waiters.pop(self, None)


def _with_reason(attempt: Attempt) -> Completion:
    """Return the completion of an attempt with a too long ``Retry-After``, which its failure then names."""
    failure = attempt.completion.failure
    assert failure is not None
    words = f"{failure.message}; its Retry-After of {attempt.retry_after:.0f} s is longer than a request may wait"
    return replace(attempt.completion, failure=replace(failure, message=words))


# Not the module `random`: its state belongs to the seed of the run.
_jitter: Final = random.Random()


def attempts_sent(cancelled: asyncio.CancelledError) -> int:
    """Return how often a cancelled request was sent; 1 for a request that no `Dispatcher` asked."""
    return cancelled.args[0] if cancelled.args and isinstance(cancelled.args[0], int) else 1


def wait_before_retry(retry: Retry, attempt: Attempt, asked: int, at_most: float) -> float | None:
    """Return the seconds to wait before a retry; None if the request is not sent again.

    Exponential back-off with full jitter: before retry n a random time up to ``first_wait * 2**(n-1)`` is waited.
    Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.

    Args:
        retry: how often and how soon.
        attempt: the last attempt.
        asked: attempts that count so far, including the last one.
        at_most: longest ``Retry-After`` in seconds that is waited for.
    """
    failure = attempt.completion.failure
    if failure is None or asked > retry.retries or not is_temporary(failure):
        return None
    at_least = attempt.retry_after or 0.0
    if at_least > max(0.0, at_most):
        return None
    # Jitter is added to Retry-After, or all requests would come back at the same moment.
    return at_least + _jitter.uniform(0, min(retry.longest_wait, retry.first_wait * 2.0 ** max(0, asked - 1)))


def is_temporary(failure: Failure) -> bool:
    """Return whether a failure is temporary, so that a retry makes sense."""
    return failure.kind in _TEMPORARY_KINDS or failure.kind.startswith("http_5")


class Traffic:
    """Slots, rate limits and outages of an account at one address. It belongs to the event loop in which it is made.

    Args:
        address: where requests go, without secrets.

    Attributes:
        outage: whether the server is down.
        load: slots that are taken.
        has_rates: whether a request may have to wait for its start or its tokens.
        waiters: requests that wait for a slot here, in order.
    """

    def __init__(self, address: str) -> None:
        self.outage = Outage(address)
        self.load = 0
        self.has_rates = False
        self.waiters: dict[_Waiter, None] = {}
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
        self.has_rates = bool(self._rates or self._tokens)

    def is_up(self) -> bool:
        """Return whether the server takes requests: there is no outage, and it does not rest."""
        return not self.outage.lasts and (not self._rests_until or now() >= self._rests_until)

    def has_room(self) -> bool:
        """Return whether a request may take a slot now; during an outage, whether it is time for a probe."""
        limit = self._most if self._adaptive is None else self._adaptive.limit
        if self.load >= limit:
            return False
        return not self._probing and now() >= self.outage.next_probe if self.outage.lasts else self.is_up()

    def enter(self) -> Callable[[], None]:
        """Take a slot, and return the function that gives it back. During an outage the request is a probe."""
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

    def rest(self, seconds: float) -> None:
        """Send nothing for so long: the server throttles, and others take its requests."""
        self._rests_until = max(self._rests_until, now() + seconds)
        self.pause_until(self._rests_until)

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

    def pause_until(self, moment: float) -> None:
        """Let the requests that wait look for a slot at another address, and again for one here at a later time."""
        self._serve_at(moment)
        for waiter in list(self.waiters):
            waiter.try_slot()

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
