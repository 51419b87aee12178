"""Servers and an event loop that need no time: hours pass at once, and every run is the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ais_prompt.models import Attempt, Dispatcher, Limits, Replica, Reply, Retry, Sink, Transport, traffic_at
from ais_prompt.types import Completion, Failure

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready:  # type: ignore[attr-defined]
            assert self._scheduled, "everything waits, and nothing will wake it"  # type: ignore[attr-defined]
            self.now = max(self.now, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def in_no_time(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What comes of it, and the seconds that it takes on the loop's clock."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        result = runner.run(work)
        return result, runner.get_loop().time()


@dataclass
class SimulatedServer:
    """A server that answers after a while, and is down at times. Its name is its answer.

    Attributes:
        name: part of its address.
        latency: seconds until an answer.
        down: when it is away, from and to.
        gateway: what a gateway in front of it says then; None if there is none.
        poison: a question that it never answers.
        fault: what it answers instead, if anything.
        answered: what it has answered, and when.
        asked, refused: how many requests it was sent while it was up, and while it was down.
        in_flight, most_in_flight: requests that it works on, now and at most.
    """

    name: str
    latency: float = 1.0
    down: Sequence[tuple[float, float]] = ()
    gateway: Failure | None = None
    poison: str = ""
    fault: Attempt | None = None
    answered: list[tuple[str, float]] = field(default_factory=list)
    asked: int = 0
    refused: int = 0
    in_flight: int = 0
    most_in_flight: int = 0

    @property
    def address(self) -> str:
        return f"http://{self.name}.test/v1"

    async def attempt(self, question: str) -> Attempt:
        """Answer a question; a server that goes down in the middle of it drops it."""
        started = asyncio.get_running_loop().time()
        if any(begin <= started < end for begin, end in self.down):
            self.refused += 1
            assert self.refused < 10_000, "it is asked again and again, without a wait"
            if self.gateway is not None:
                return Attempt(Completion(failure=self.gateway))
            return Attempt(Completion(failure=Failure("unreachable", f"{self.name}: connection refused")))
        self.asked += 1
        if self.fault is not None:
            return self.fault
        if question == self.poison:
            return Attempt(Completion(failure=Failure("http_500", "cannot")))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            ends = min((begin for begin, _ in self.down if begin > started), default=float("inf"))
            await asyncio.sleep(min(self.latency, ends - started))
        finally:
            self.in_flight -= 1
        if ends <= started + self.latency:
            return Attempt(Completion(failure=Failure("connection", f"{self.name}: it went away")))
        self.answered.append((question, asyncio.get_running_loop().time()))
        return Attempt(Completion(self.name, "stop"))

    async def send(self, method: str, path: str, body: bytes | None, sink: Sink | None) -> Reply | Failure:
        """Not used: `attempt` takes its place."""
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is open."""


def dispatcher_of(servers: Sequence[SimulatedServer], limits: Limits, retry: Retry | None = None) -> Dispatcher:
    """Asks these servers, in the running event loop."""
    replicas = [Replica(server.address, server, traffic_at(server.address, limits)) for server in servers]
    return Dispatcher(replicas, retry or Retry(first_wait=0.1), limits.deadline)


def asks(question: str) -> Callable[[Transport], Coroutine[Any, Any, Attempt]]:
    """An attempt at a question, with any server."""

    async def once(transport: Transport) -> Attempt:
        assert isinstance(transport, SimulatedServer)
        return await transport.attempt(question)

    return once


async def converse(dispatcher: Dispatcher, places: int, turns: Mapping[str, int]) -> dict[str, list[Completion]]:
    """Hold conversations of so many turns, as many at a time as there are places; the answers of each."""
    answers: dict[str, list[Completion]] = {}
    names = iter(turns)

    async def hold() -> None:
        for name in names:
            answers[name] = []
            for turn in range(turns[name]):
                answers[name].append(await dispatcher.ask(asks(f"{name}:{turn}"), conversation=name))

    async with asyncio.TaskGroup() as group:
        for _ in range(places):
            group.create_task(hold())
    return answers
