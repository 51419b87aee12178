"""Blocking work beside an event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ais_prompt.utils.threads import in_thread


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
