"""Send requests when they are due. The clock is that of the event loop, and nothing here knows what a request is.

Each request is due at a time that is fixed against the beginning of the load: a late start makes no later one late, and
nothing is skipped. What limits requests in flight is the schedule alone.
"""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct, field

from ais_prompt.extensions.perf.metrics import firm_p99
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.utils import versions

SWITCH_SECONDS: Final = 0.0005
"""How long the threads that write may keep Python's lock while the event loop wants it; Python's own value is 5 ms."""
TICK_SECONDS: Final = 0.01
"""Interval of the ticker that measures how late the event loop is."""

Ask: TypeAlias = Callable[[int, float], Awaitable[None]]
"""Asks one request: its number, and when it was due, in seconds of the loop's clock."""


class ClientFacts(Struct, frozen=True):
    """What the client did during a load.

    Attributes:
        seconds: length of the load.
        lag_p99, lag_max: how late the event loop was, in seconds: what comes during a delay is noted too late. In
            loads of less than 5 s the first one leaves out the five largest delays.
        cpu_share: processor time of this process over ``seconds``; 1 is one core.
        cores: cores of this machine that the process may use.
        interrupted: whether it was stopped before its last request.
        machine: its processor, system, and the versions of Python and packages.
    """

    seconds: float
    lag_p99: float
    lag_max: float
    cpu_share: float
    cores: int
    interrupted: bool = False
    machine: Mapping[str, str] = field(default_factory=dict)


async def drive(schedule: Schedule, ask: Ask, origin: float) -> None:
    """Ask every request of a schedule, and return when the last one is answered.

    Args:
        schedule: of the load.
        ask: asks one request; it returns when the answer is there, and raises nothing that one request is to blame for.
        origin: the beginning of the load, on the clock of the running loop.

    Raises:
        ExceptionGroup: what ``ask`` raises; the other requests are cancelled.
    """
    clock = asyncio.get_running_loop().time
    places: asyncio.Queue[float] = asyncio.Queue()  # when each place became free
    for _ in range(schedule.places or 0):
        places.put_nowait(origin)

    async def ask_in_place(number: int, due: float) -> None:
        # In flight. Nothing here ends it early: a slow answer is part of what is measured.
        await ask(number, due)
        # Answered. The place stays taken while its user thinks.
        if schedule.think_seconds:
            await asyncio.sleep(schedule.think_seconds)
        if schedule.places is not None:
            places.put_nowait(clock())

    async with asyncio.TaskGroup() as group:
        for number, moment in schedule:
            # Not due yet. Without a time of its own, a request is due as soon as a place is free.
            due = origin if moment is None else origin + moment
            await _until(due)
            if schedule.places is not None:
                # Due, but perhaps no place is free. The latency of a closed load begins with the place, that of an open
                # load with the time that was planned: waiting for a place is then part of it.
                free = await places.get()
                due = free if moment is None else due
            if schedule.seconds is not None and clock() - origin >= schedule.seconds:
                # Over: no further request starts, and those in flight go on.
                break
            group.create_task(ask_in_place(number, due))


async def _until(moment: float) -> None:
    """Wait until a time of the loop's clock; if it is over, let requests that have begun go on first."""
    loop = asyncio.get_running_loop()
    if loop.time() >= moment:
        await asyncio.sleep(0)
        return
    reached: asyncio.Future[None] = loop.create_future()
    timer = loop.call_at(moment, reached.set_result, None)
    try:
        await reached
    finally:
        timer.cancel()


class ClientMeter:
    """Measures what the client does while a load is driven. The garbage collector leaves earlier objects alone."""

    def __init__(self) -> None:
        self._late: list[float] = []
        self._begun = time.monotonic()
        self._cpu = time.process_time()

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure while the body runs, in the running event loop."""
        ticker = asyncio.create_task(self._tick())
        # A collection of all objects stops the loop for longer than a token takes; those from before are left alone.
        gc.collect()
        gc.freeze()
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        self._begun, self._cpu = time.monotonic(), time.process_time()
        try:
            yield
        finally:
            gc.unfreeze()
            sys.setswitchinterval(interval)
            ticker.cancel()

    def facts(self, *, interrupted: bool) -> ClientFacts:
        """Return what was measured so far."""
        seconds = time.monotonic() - self._begun
        late = np.array(self._late or [0.0])
        return ClientFacts(
            seconds,
            firm_p99(late),
            float(late.max()),
            (time.process_time() - self._cpu) / seconds if seconds else 0.0,
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            interrupted,
            {"processor": _processor(), **versions()},
        )

    async def _tick(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            wanted = clock() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            self._late.append(max(0.0, clock() - wanted))


def _processor() -> str:
    """Return the name of the processor; on Linux `platform` knows its kind only."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
