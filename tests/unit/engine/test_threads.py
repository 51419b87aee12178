"""Blocking work beside an event loop: in one thread while it is short, in more where it is slow."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ais_prompt.engine.threads import MOST, FileThreads


def test_one_thread_does_short_work() -> None:
    async def work() -> set[int]:
        threads = FileThreads()
        found = {await threads.run(threading.get_ident) for _ in range(50)}
        threads.close()
        return found

    assert len(asyncio.run(work())) == 1


def test_slow_work_holds_up_no_other() -> None:
    async def work() -> None:
        threads = FileThreads()
        freed = threading.Event()
        slow = [asyncio.create_task(threads.run(freed.wait)) for _ in range(MOST - 1)]
        await asyncio.wait_for(threads.run(freed.set), timeout=60)
        assert await asyncio.gather(*slow) == [True] * (MOST - 1)
        threads.close()

    asyncio.run(work())


def test_there_are_no_more_threads_than_allowed() -> None:
    async def work() -> int:
        threads = FileThreads()
        together = threading.Barrier(MOST)
        slow = [asyncio.create_task(threads.run(together.wait)) for _ in range(3 * MOST)]
        await asyncio.gather(*slow)
        found = sum(thread.name == "aisprompt-files" for thread in threading.enumerate())
        threads.close()
        return found

    assert asyncio.run(work()) == MOST


def test_what_work_raises_is_raised_where_it_is_awaited() -> None:
    async def work() -> None:
        threads = FileThreads()
        try:
            await threads.run(lambda: 1 // 0)
        finally:
            threads.close()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(work())
