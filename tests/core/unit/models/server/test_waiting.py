"""Whatever is waited for before the first request is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ais_prompt.models import AnnouncedServer, SharedServers, StartedServers, read_server
from ais_prompt.models.server import started as announced
from ais_prompt.terminal import Advance, Facts, shown_on
from tests.support.waiting import WATCHDOG_SECONDS

SERVER = read_server({"command": "serve {port}", "shared": True, "host": "node7"}, "org/model", None)
Waiting = tuple[Callable[[], Awaitable[object]], Callable[[], Awaitable[object]]]
"""What waits, and what it waits for."""


def for_a_shared_server(folder: Path) -> Waiting:
    async def announce() -> None:
        AnnouncedServer(folder, SERVER, "http://node7:1/v1", 0)

    return SharedServers(folder, SERVER, "demo").wait, announce


def for_gpus(folder: Path) -> Waiting:
    servers = StartedServers(folder)

    async def give_back() -> None:
        await servers.give_gpus_back(["0"])

    async def take_twice() -> None:
        await servers.take_gpus(1)
        await servers.take_gpus(1)

    return take_twice, give_back


@pytest.mark.parametrize(
    ("prepare", "shown"),
    [
        (for_a_shared_server, "waiting for a server of demo, which `aisprompt serve` starts"),
        (for_gpus, "waiting for 1 free GPU"),
    ],
)
def test_what_is_waited_for_is_shown_until_it_is_there(
    tmp_path: Path, prepare: Callable[[Path], Waiting], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(announced, "LOOK_SECONDS", 0.01)
    lines: list[str] = []

    @contextmanager
    def display(description: str, total: int | None, unit: str, facts: Facts | None = None) -> Iterator[Advance]:
        assert (total, unit) == (None, "seconds")
        lines.append(description)
        yield lambda _: None
        lines.append("over")

    async def wait() -> None:
        waits, ends = prepare(tmp_path)
        waiting = asyncio.create_task(waits())  # type: ignore[arg-type]
        while not lines or lines[-1] != shown:
            await asyncio.sleep(0)
        before = list(lines)
        await ends()
        await waiting
        assert (before[-1], lines[len(before) :]) == (shown, ["over"])

    with shown_on(display):
        asyncio.run(asyncio.wait_for(wait(), WATCHDOG_SECONDS))
