"""One set of servers for all shards: announced in the run folder, and followed as it changes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.config import Options
from ais_prompt.models import AnnouncedServer
from ais_prompt.plan import Plan, read_spec
from tests.core.e2e.project import Project, read_lines
from tests.support.cli import ROOT
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process

ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(240)]
COMMAND = "{python} -m ais_prompt.testing.server --port {port} --latency 0.1"


def use(project: Project, replicas: int = 2, rows: int = len(ROWS), **options: Any) -> None:
    server = {"command": COMMAND, "env": {"PYTHONPATH": str(ROOT)}, "shared": True, "host": "127.0.0.1"}
    server |= {"replicas": replicas, "start_timeout": 60, **options}
    project.write_data(ROWS[:rows])
    model = f"dict(type='OpenAIChatModel', abbr='fake', model='mock', max_concurrency=4, server={server!r})"
    project.write_config(models=model)


def run_folder(project: Project) -> Path:
    return project.root / "outputs" / "eval" / "4711"


@pytest.fixture
def start(project: Project) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command with ``-r 4711``; what still runs at the end is stopped."""
    started: list[subprocess.Popen[str]] = []

    def begin(verb: str, *args: str) -> subprocess.Popen[str]:
        started.append(project.start(verb, "eval.py", "-r", "4711", *args))
        return started[-1]

    yield begin
    for process in started:
        process.terminate()
        process.communicate(timeout=WATCHDOG_SECONDS)


def addresses(project: Project) -> list[str]:
    found = sorted(run_folder(project).glob("servers/*/*.json"))
    return [json.loads(path.read_text())["address"] for path in found]


def kill_server(address: str) -> None:
    """Kill the process that listens at an address, if there is one."""
    port = address.rpartition(":")[2].removesuffix("/v1").encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            is_watchdog = any(word.endswith(b"watchdog.py") for word in words)
            if port in words and b"ais_prompt.testing.server" in words and not is_watchdog:
                os.kill(int(path.parent.name), signal.SIGKILL)


def answered(project: Project) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in run_folder(project).glob("shards/*/journal/*/*.jsonl"))


def by_replica(project: Project) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in run_folder(project).glob("shards/*/journal/fake/sums.jsonl"):
        for line in read_lines(path):
            replica = line["completion"].get("replica", "")
            found[replica] = found.get(replica, 0) + 1
    return found


@pytest.mark.slow
def test_shards_share_servers_that_come_and_go(project: Project, start: Callable[..., subprocess.Popen[str]]) -> None:
    use(project)
    serving = start("serve")
    shards = [start("run", "--shard", f"{index}/3", "-m", "infer") for index in range(3)]
    wait_until(lambda: len(addresses(project)) == 2, "two servers are announced")
    first = addresses(project)
    wait_until(lambda: answered(project) > 30, "thirty answers")
    assert {*by_replica(project)} == {*first}
    kill_server(first[0])
    before = answered(project)
    wait_until(lambda: answered(project) > before + 10, "the other one answers")
    while serving.poll() is None:  # each is started again once
        for address in first:
            kill_server(address)
    out, err = serving.communicate(timeout=WATCHDOG_SECONDS)
    assert serving.returncode == 3
    assert len(re.findall(r"fake: http://127.0.0.1:\d+/v1", out)) == 2
    assert "all servers have crashed" in err
    assert addresses(project) == []
    assert answered(project) < len(ROWS)
    later = start("serve")
    for process in (*shards, later):  # the servers end with the last shard
        out, err = process.communicate(timeout=WATCHDOG_SECONDS)
        assert process.returncode == 0, out + err
    assert addresses(project) == []
    used = by_replica(project)
    assert sum(used.values()) == len(ROWS)
    assert len({*used} - {*first}) == 2, "the servers that were announced later have answered"
    done = project.run("merge", "4711")
    assert done.returncode == 0, done.stderr
    predictions = read_lines(run_folder(project) / "predictions" / "fake" / "sums.jsonl")
    assert [(line["index"], line["prediction"]) for line in predictions] == [
        (index, row["answer"]) for index, row in enumerate(ROWS)
    ]


def test_shards_end_when_no_server_is_announced(project: Project) -> None:
    use(project, rows=4, start_timeout=1)
    done = project.run("run", "eval.py", "-r", "4711", "--shard", "0/1")
    assert done.returncode == 3
    assert "no server of fake has been announced for 1 s" in done.stderr
    assert "aisprompt serve" in done.stderr


@pytest.mark.slow
def test_shards_end_when_all_servers_are_gone(project: Project, start: Callable[..., subprocess.Popen[str]]) -> None:
    use(project, start_timeout=6)
    serving = start("serve")
    shard = start("run", "--shard", "0/1", "-m", "infer")
    wait_until(lambda: answered(project) > 10, "ten answers")
    serving.terminate()
    assert serving.wait(WATCHDOG_SECONDS) == 143
    assert addresses(project) == []
    out, err = shard.communicate(timeout=WATCHDOG_SECONDS)
    assert shard.returncode == 3, out + err
    assert "no server of fake has been announced for 6 s" in err
    before = answered(project)
    assert before < len(ROWS)
    again = start("serve")
    shard = start("run", "--shard", "0/1")
    out, err = shard.communicate(timeout=WATCHDOG_SECONDS)
    assert shard.returncode == 0, out + err
    assert again.wait(WATCHDOG_SECONDS) == 0
    assert answered(project) >= len(ROWS)


@pytest.mark.slow
def test_a_runner_starts_shards_that_use_them(project: Project, start: Callable[..., subprocess.Popen[str]]) -> None:
    use(project, rows=12, replicas=1)
    serving = start("serve")
    wait_until(lambda: len(addresses(project)) == 1, "a server is announced")
    options = ["--runner", "local", "--set", "runner.num_shards=2", "-r", str(run_folder(project))]
    done = project.run_process("run", "eval.py", *options)
    assert done.returncode == 0, done.stderr
    assert serving.wait(WATCHDOG_SECONDS) == 0
    assert sum(by_replica(project).values()) == 12


def test_a_server_that_is_away_when_a_shard_begins_costs_no_answers(
    project: Project, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """It was ready when it was announced, so its absence is an outage and no fault of the config."""
    use(project, rows=12, replicas=1)
    [model] = Plan(read_spec(Options(str(project.root / "eval.py"))).spec).models
    server = model.model.server
    gone = AnnouncedServer(run_folder(project) / "servers", server, "http://127.0.0.1:9/v1", 0)
    shard = start("run", "--shard", "0/1")
    logs = run_folder(project).glob
    wait_until(lambda: any("unreachable" in log.read_text() for log in logs("shards/*/logs/run.log")), "it is away")
    start("serve")
    wait_until(lambda: len(addresses(project)) == 2, "another one is announced")
    gone.withdraw()
    out, err = shard.communicate(timeout=WATCHDOG_SECONDS)
    assert shard.returncode == 0, out + err
    assert sum(by_replica(project).values()) == 12


def test_a_run_without_shards_starts_its_own(project: Project) -> None:
    use(project, rows=4, replicas=1)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert not list(project.folder().glob("servers/*"))


def test_serve_needs_a_shared_server(project: Project) -> None:
    done = project.run("serve", "eval.py", "-r", "4711")
    assert done.returncode == 2
    assert "no model of the config has a server that shards share" in done.stderr
    use(project, command=["no-such-program", "{port}"])
    done = project.run("serve", "eval.py", "-r", "4711")
    assert done.returncode == 3
    assert "'no-such-program', which is to start the server, is not installed" in done.stderr
