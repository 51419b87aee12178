"""Blocking work beside an event loop."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from ais_prompt.processes import call_in_loop, in_thread, run_coroutine


def test_slow_work_holds_up_no_other() -> None:
    async def work() -> None:
        freed = threading.Event()
        slow = [asyncio.create_task(in_thread(freed.wait)) for _ in range(20)]
        await asyncio.wait_for(in_thread(freed.set), timeout=60)
        assert await asyncio.gather(*slow) == [True] * 20

    asyncio.run(work())


def test_work_that_is_no_longer_awaited_stops_nothing() -> None:
    freed = threading.Event()

    async def work() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_thread(freed.wait), timeout=0.01)

    asyncio.run(work())
    freed.set()


def test_an_error_of_the_work_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(lambda: 1 // 0))


def test_a_loop_that_has_ended_takes_no_call() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    call_in_loop(loop, pytest.fail, "the loop has ended")


def test_a_coroutine_runs_inside_a_running_loop() -> None:
    async def inner() -> int:
        await asyncio.sleep(0)
        return 1

    async def outer() -> int:
        return run_coroutine(inner())

    assert asyncio.run(outer()) == run_coroutine(inner()) == 1


def test_ctrl_c_ends_a_coroutine_inside_a_running_loop() -> None:
    ended = []

    async def inner() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.sleep(600)
        finally:
            ended.append(True)

    async def outer() -> None:
        run_coroutine(inner())

    loop = asyncio.new_event_loop()  # asyncio.run would take the signal
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(outer())
    loop.close()
    assert ended == [True]
