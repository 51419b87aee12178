"""The driver on a clock that jumps: what was due when, when it was sent, and what the latencies say."""

from __future__ import annotations

import asyncio
import math

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.extensions.perf.driver import drive
from ais_prompt.extensions.perf.schedule import Schedule, closed, from_trace, of_users
from tests.support.simulated import in_no_time


class Server:
    """Answers after ``seconds``, with ``slots`` requests at a time; notes (due, taken, end) of each request."""

    def __init__(self, seconds: float, slots: int | None = None) -> None:
        self.seconds = seconds
        self.slots = asyncio.Semaphore(slots) if slots else None
        self.asked: dict[int, tuple[float, float, float]] = {}
        self.in_flight = self.most = 0

    async def ask(self, number: int, due: float) -> None:
        clock = asyncio.get_running_loop().time
        taken = clock()
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        if self.slots is None:
            await asyncio.sleep(self.seconds)
        else:
            async with self.slots:
                await asyncio.sleep(self.seconds)
        self.in_flight -= 1
        self.asked[number] = (due, taken, clock())


def driven(schedule: Schedule, server: Server) -> list[tuple[float, float, float]]:
    in_no_time(drive(schedule, server.ask, 0.0))
    return [server.asked[number] for number in sorted(server.asked)]


def even(requests: int, rate: float, places: int | None = None) -> Schedule:
    return Schedule("rate", [(number + 1) / rate for number in range(requests)], requests, places)


def test_requests_of_a_rate_are_sent_when_they_are_due_however_slow_the_server_is() -> None:
    found = driven(even(50, 10.0), server := Server(60.0))
    assert server.most == 50
    assert all(taken == pytest.approx(due) for due, taken, _ in found)
    assert [due for due, _, _ in found] == pytest.approx([(number + 1) / 10 for number in range(50)])


@pytest.mark.parametrize(
    ("requests", "rate", "places", "seconds"),
    [  # the seven scenarios of vLLM #54101, whose latencies left the wait out
        *((8, 10, None, 0.5), (8, 10, 1, 0.5), (40, 20, 8, 0.19), (40, 40, None, 0.19), (40, 40, 4, 0.19)),
        *((40, math.inf, None, 0.19), (40, math.inf, 4, 0.19)),
    ],
)
def test_a_limit_of_places_makes_requests_wait_and_the_wait_is_in_the_latency_from_due(
    requests: int, rate: float, places: int | None, seconds: float
) -> None:
    found = driven(even(requests, rate, places), server := Server(seconds))
    assert server.most <= (places or requests)
    free = [0.0] * (places or requests)
    for due, taken, end in found:  # theory: the first place that is free takes the next request
        start = max(due, min(free))
        free[free.index(min(free))] = start + seconds
        assert (taken, end - due) == pytest.approx((start, start + seconds - due))


def test_clients_of_a_closed_load_ask_again_at_once_and_hide_what_they_did_not_ask() -> None:
    found = driven(closed(30, 3), server := Server(0.5))
    assert server.most == 3
    assert max(end for _, _, end in found) == pytest.approx(5.0)
    assert all(taken == due for due, taken, _ in found)


def test_users_pause_between_an_answer_and_the_next_question() -> None:
    found = driven(of_users(6, 2, 3.0), Server(1.0))
    assert [due for due, _, _ in found] == [taken for _, taken, _ in found] == pytest.approx([0, 0, 4, 4, 8, 8])


def test_a_stall_is_in_the_latencies_from_due_and_not_in_those_of_a_closed_load() -> None:
    async def stalled(number: int, due: float) -> None:
        loop = asyncio.get_running_loop()
        taken = loop.time()
        await asyncio.sleep(max(0.01, 3.0 - taken) if 1.0 <= taken < 3.0 else 0.01)  # away from 1 s to 3 s
        latencies[number] = loop.time() - due

    latencies: dict[int, float] = {}
    in_no_time(drive(even(500, 100.0), stalled, 0.0))
    assert sorted(latencies.values())[-6] == pytest.approx(2.0, abs=0.1)  # p99
    latencies.clear()
    in_no_time(drive(closed(500, 1), stalled, 0.0))
    assert sorted(latencies.values())[-6] == pytest.approx(0.01)


def test_a_client_that_was_late_makes_up_for_it_and_skips_nothing() -> None:
    async def blocking(number: int, due: float) -> None:
        loop = asyncio.get_running_loop()
        taken.append(loop.time() - due)
        if number == 3:
            loop.now += 2.0  # type: ignore[attr-defined]  # the loop was blocked

    taken: list[float] = []
    in_no_time(drive(from_trace([0.1 * n for n in range(40)], 1.0, places=None), blocking, 0.0))
    assert len(taken) == 40
    assert max(taken) == pytest.approx(1.9)
    assert taken[-10:] == pytest.approx([0.0] * 10)


def test_pressure_starts_nothing_after_its_time_and_waits_for_what_is_under_way() -> None:
    schedule = Schedule("pressure", (), None, 2, 3.2)
    found = driven(schedule, Server(1.0))
    assert [taken for _, taken, _ in found] == pytest.approx([0, 0, 1, 1, 2, 2, 3, 3])
    assert max(end for _, _, end in found) == pytest.approx(4.0)


def test_an_error_that_is_no_failure_of_a_request_ends_the_load() -> None:
    async def broken(number: int, due: float) -> None:
        raise ModelError("the disk is full", fix="free some")

    with pytest.raises(ExceptionGroup) as group:
        in_no_time(drive(closed(5, 2), broken, 0.0))
    assert isinstance(group.value.exceptions[0], ModelError)
