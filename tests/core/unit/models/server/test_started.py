"""The servers of a run: GPUs, replicas, one start for several models."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ModelError
from ais_prompt.models import ServerInstance, ServerToStart, StartedServers, read_server
from tests.support.cli import ROOT
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = pytest.mark.process

NOTE = """
import os, sys
gpus = os.environ.get("CUDA_VISIBLE_DEVICES")
if gpus == os.environ.get("BROKEN", "none"):
    sys.exit(3)
with open(sys.argv[1], "a") as notes:
    notes.write(f"{os.getpid()} {gpus}\\n")
os.execv(sys.executable, [sys.executable, "-m", "ais_prompt.testing.server", "--port", sys.argv[2]])
"""


def server(notes: Path, num_gpus: int | None = None, **options: Any) -> ServerToStart:
    """A server that notes its pid and its GPUs."""
    command = ["{python}", "-c", NOTE, str(notes), "{port}"]
    return read_server({"command": command, "env": {"PYTHONPATH": str(ROOT)}, **options}, "m", num_gpus)


def in_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an asynchronous test."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**fixtures), WATCHDOG_SECONDS))

    return run


def noted(notes: Path) -> list[tuple[int, str]]:
    lines = notes.read_text().splitlines() if notes.exists() else []
    return [(int(line.split()[0]), line.split()[1]) for line in lines]


def runs(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


@pytest.mark.parametrize(
    ("gpus", "num_gpus", "expected"),
    [("3,5,7", None, ["3", "5", "7"]), ("3,5,7", 2, ["3,5"]), ("", None, [""])],
)
@in_a_loop
async def test_auto_starts_a_replica_for_each_gpu(
    tmp_path: Path, gpus: str, num_gpus: int | None, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    notes = tmp_path / "notes"
    with StartedServers(tmp_path / "logs") as servers:
        instances = await servers.use(server(notes, num_gpus, replicas="auto"), "m")
        seen = [line.split(" ", 1)[1] for line in notes.read_text().splitlines()]
        assert sorted(seen) == expected
        assert len({instance.base_url for instance in instances}) == len(expected)
        pids = [int(line.split(" ", 1)[0]) for line in notes.read_text().splitlines()]
        assert all(map(runs, pids))
    assert not any(map(runs, pids))
    names = ["m.log"] if len(expected) == 1 else [f"m-{index}.log" for index in range(len(expected))]
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == names


@in_a_loop
async def test_a_server_waits_for_the_gpus_of_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    notes = tmp_path / "notes"
    large, small = server(notes), server(notes, 1, args="unused")
    with StartedServers(tmp_path / "logs") as servers:
        await servers.use(large, "large")
        waiting = asyncio.create_task(servers.use(small, "small"))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        [(first, gpus)] = noted(notes)
        assert (gpus, runs(first)) == ("0,1", True)
        await servers.leave(large)
        await waiting
        assert not runs(first)
        assert noted(notes)[1][1] == "0"


@in_a_loop
async def test_an_idle_server_stays_up_where_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    notes = tmp_path / "notes"
    one, other = server(notes, 1), server(notes, 1, args="unused")
    with StartedServers(tmp_path / "logs") as servers:
        first: Sequence[ServerInstance] = await servers.use(one, "one")
        await servers.leave(one)
        await servers.use(other, "other")
        assert await servers.use(one, "again") == first
        assert [gpus for _, gpus in noted(notes)] == ["0", "1"]


@in_a_loop
async def test_models_with_one_command_share_a_server(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with StartedServers(tmp_path / "logs") as servers:
        one, other = await asyncio.gather(servers.use(server(notes), "one"), servers.use(server(notes), "other"))
        assert one == other
        assert len(noted(notes)) == 1


@in_a_loop
async def test_a_replica_that_cannot_start_stops_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    notes = tmp_path / "notes"
    broken = server(notes, replicas="auto", env={"PYTHONPATH": str(ROOT), "BROKEN": "1"})
    with StartedServers(tmp_path / "logs") as servers:
        for _ in range(2):
            with pytest.raises(ModelError, match=r"the server of m-1 ended before it was ready \(exit code 3\)"):
                await servers.use(broken, "m")
        assert len(noted(notes)) <= 1
        assert not any(runs(pid) for pid, _ in noted(notes))
