"""Send the requests of one model to its replicas: the least loaded one first, with retries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.models.options import Retry
from ais_prompt.models.traffic.outage import AWAY, OUTAGE_LIMIT_SECONDS
from ais_prompt.models.traffic.retry import THROTTLED, Attempt, wait_before_retry
from ais_prompt.models.traffic.traffic import Traffic
from ais_prompt.models.transport import Transport
from ais_prompt.types import Activity, Completion, Failure


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
"""A replica, and what gives the slot there back."""

HOMES: Final = 10_000
"""Conversations whose replicas are known, more than are ever under way; the oldest are forgotten first."""


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
        """Ask other replicas from now on, at least one. What the former ones were asked already goes on."""
        self._retired += [replica for replica in self.replicas if replica not in replicas]
        self.replicas = tuple(replicas)
        for waiter in list(self._held_back):
            waiter.move([replica.traffic for replica in self.replicas])

    async def close(self) -> None:
        """Close the connections to all replicas, past ones included."""
        for replica in (*self.replicas, *self._retired):
            await replica.transport.close()

    def activity(self) -> Activity:
        """Return the requests in flight, and what the others wait for."""
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
            replicas, the address of the one that answered.
        """
        asking = _Asking(once, tokens, conversation, self._homes.pop(conversation, None), self._clock())
        return self._ask(asking) if self._deadline is None else self._ask_within(asking, self._deadline)

    async def _ask_within(self, asking: _Asking, seconds: float) -> Completion:
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(asking)
        except TimeoutError:
            return Completion(failure=Failure("deadline", f"no answer within {seconds:g} s, all attempts together"))

    async def _ask(self, asking: _Asking) -> Completion:
        while True:
            replica, leave = self._take_free_slot(asking) or await self._wait_for_slot(asking)
            try:
                if replica.traffic.has_rates and not await self._wait_for_turn(replica, asking.tokens):
                    continue  # an outage has begun meanwhile
                attempt, seconds = await self._send(replica, asking.once)
                wait = self._wait_after(asking, replica, attempt, seconds)
                if isinstance(wait, Completion):
                    return wait
                # A throttled request keeps its slot while it waits, so that others do not run into the same limit.
                if wait and wait.reason in THROTTLED:
                    await self._wait(wait)
                    wait = None
            finally:
                leave()
            if wait:
                await self._wait(wait)

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
        """Return the replica that has answered in this conversation; None without one that is up."""
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

    async def _send(self, replica: Replica, once: Once) -> tuple[Attempt, float]:
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
        if failure is None:
            traffic.outage.answered()
            traffic.record(attempt, seconds, asking.tokens)
            return self._finished(asking, replica, attempt.completion, seconds)
        time_left = max(0.0, self._longest_wait - (self._clock() - asking.started))
        waits_too_long = (attempt.retry_after or 0.0) > time_left
        moves = self._count(asking, replica, attempt, time_left, waits_too_long=waits_too_long)
        traffic.record(attempt, seconds, asking.tokens)
        asking.failed.add(replica)
        if moves:
            pause = self._retry.first_wait if attempt.retry_after is None else attempt.retry_after
            traffic.rest(min(pause, OUTAGE_LIMIT_SECONDS))
            return None
        if asking.failed.issuperset(self.replicas):
            asking.failed.clear()
        wait = wait_before_retry(self._retry, attempt, asking.counted, time_left)
        if wait is not None:
            return None if traffic.outage.lasts else _Wait(wait, failure.kind)
        completion = _with_reason(attempt) if waits_too_long else attempt.completion
        return self._finished(asking, replica, completion, seconds)

    def _count(
        self, asking: _Asking, replica: Replica, attempt: Attempt, time_left: float, *, waits_too_long: bool
    ) -> bool:
        """Count an attempt that failed if it uses up a retry. Return whether another replica takes the request."""
        failure = attempt.completion.failure
        throttled = failure is not None and failure.kind in THROTTLED
        moves = throttled and self._may_move(asking, replica, waits_too_long=waits_too_long)
        in_outage = not waits_too_long and self._is_part_of_outage(replica, attempt)
        put_off = throttled and attempt.retry_after is not None and time_left > 0
        asking.counted += not (in_outage or moves or put_off)
        return moves

    def _finished(self, asking: _Asking, replica: Replica, completion: Completion, seconds: float) -> Completion:
        """Return the completion of the last attempt, with what all attempts have in common."""
        if completion.failure is None and asking.conversation and len(self.replicas) > 1:
            self._homes[asking.conversation] = replica
            if len(self._homes) > HOMES:
                del self._homes[next(iter(self._homes))]
        address = replica.address if len(self.replicas) > 1 else ""
        return replace(completion, seconds=seconds, attempts=asking.attempts, replica=address)

    def _may_move(self, asking: _Asking, replica: Replica, *, waits_too_long: bool) -> bool:
        """Return whether another replica takes a request that this one throttled."""
        if not waits_too_long and self._stays(asking) is replica:
            return False
        others = (other for other in self.replicas if other is not replica and other not in asking.failed)
        return replica not in asking.failed and any(other.traffic.is_up() for other in others)

    def _is_part_of_outage(self, replica: Replica, attempt: Attempt) -> bool:
        outages = [other.traffic.outage for other in self.replicas]
        spare = any(not outage.lasts for outage in outages if outage is not replica.traffic.outage)
        gone = all(outage.seconds(self._clock()) > OUTAGE_LIMIT_SECONDS for outage in outages)
        return replica.traffic.note_outcome(attempt, spare=spare, gone=gone)

    async def _wait(self, wait: _Wait) -> None:
        if wait.seconds <= 0:
            return
        token = object()
        self._waits[token] = (self._clock() + wait.seconds, wait.reason)
        try:
            await asyncio.sleep(wait.seconds)
        finally:
            del self._waits[token]


class _Asking(Struct):
    """A request on its way.

    Attributes:
        once, tokens, conversation: as for `Dispatcher.ask`.
        home: the replica that answered in this conversation before; None at its beginning.
        started: when it began.
        attempts, counted: attempts so far, and those that use up a retry.
        failed: replicas that failed it; it prefers the others.
    """

    once: Once
    tokens: float
    conversation: str
    home: Replica | None
    started: float
    attempts: int = 0
    counted: int = 0
    failed: set[Replica] = field(default_factory=set)


class _Wait(Struct, frozen=True):
    """A wait of so many seconds, and its reason."""

    seconds: float
    reason: str


class _Waiter:
    """A request that waits for a slot at one of its replicas.

    Attributes:
        slot: the replica, and what gives the slot back.
        at: where it waits.
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
