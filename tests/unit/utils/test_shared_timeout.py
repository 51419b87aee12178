"""Blocks that take too long time out, and no others."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils.shared_timeout import SharedTimeout
from tests.simulated import in_no_time

SECONDS = 10.5


class Work:
    """Work for some seconds with a timeout, and note how that ends, and when."""

    def __init__(self, timeout: SharedTimeout, start: float, seconds: float) -> None:
        self.timeout = timeout
        self.start = start
        self.seconds = seconds
        self.end: tuple[str, float] | None = None

    async def run(self) -> None:
        await asyncio.sleep(self.start)
        try:
            with self.timeout:
                await asyncio.sleep(self.seconds)
            how = "done"
        except TimeoutError:
            how = "timeout"
        except asyncio.CancelledError:
            how = "cancelled"
        self.end = how, asyncio.get_running_loop().time()


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 20), st.none() | st.integers(0, 20).map(lambda at: at + 0.25)),
        max_size=20,
    )
)
def test_blocks_that_take_too_long_time_out_and_no_others(plans: list[tuple[int, int, float | None]]) -> None:
    async def run() -> list[tuple[str, float] | None]:
        timeout = SharedTimeout(SECONDS)
        works = [Work(timeout, start, seconds) for start, seconds, _ in plans]
        tasks = [asyncio.create_task(work.run()) for work in works]
        for task, (start, _, cancelled) in zip(tasks, plans, strict=True):
            if cancelled is not None:
                asyncio.get_running_loop().call_at(start + cancelled, task.cancel)
        await asyncio.gather(*tasks)
        return [work.end for work in works]

    def expected(start: int, seconds: int, cancelled: float | None) -> tuple[str, float]:
        ends = {seconds: "done", SECONDS: "timeout"} | ({} if cancelled is None else {cancelled: "cancelled"})
        return ends[min(ends)], start + min(ends)

    assert in_no_time(run())[0] == [expected(*plan) for plan in plans]


def test_a_task_that_is_cancelled_when_it_times_out_stays_cancelled() -> None:
    async def run() -> tuple[str, float] | None:
        work = Work(SharedTimeout(SECONDS), 0.0, 20.0)
        task = asyncio.create_task(work.run())
        asyncio.get_running_loop().call_at(SECONDS, task.cancel)
        await asyncio.wait([task])
        return work.end

    assert in_no_time(run())[0] == ("cancelled", SECONDS)


def test_a_task_goes_on_after_a_timeout_and_may_enter_again() -> None:
    async def run() -> None:
        timeout = SharedTimeout(SECONDS)
        for _ in range(2):
            with pytest.raises(TimeoutError), timeout:
                await asyncio.sleep(20.0)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()

    assert in_no_time(run())[1] == 2 * SECONDS


def test_other_errors_pass() -> None:
    async def run() -> None:
        with pytest.raises(ZeroDivisionError), SharedTimeout(SECONDS):
            await asyncio.sleep(1.0)
            raise ZeroDivisionError

    in_no_time(run())
