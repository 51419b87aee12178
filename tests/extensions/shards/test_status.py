"""`aisprompt status`: every state that the folder of a run with shards can be in."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ais_prompt.models import AnnouncedServer, read_server
from ais_prompt.types import SILENCE
from tests.core.e2e.project import Project

SERVER = read_server({"command": "serve {port}", "shared": True, "host": "node7"}, "org/model", None)
RUN = Path("outputs/eval/nightly")


def ask(project: Project, *indices: int) -> None:
    for index in indices:
        done = project.run("run", "eval.py", "-r", "nightly", "--shard", f"{index}/2", "-m", "infer")
        assert done.returncode == 0, done.stderr


def serve(project: Project) -> None:
    """Announce two servers, of which one has no heartbeat any more; withdraw a third one."""
    folder = project.root / RUN / "servers"
    for number in range(3):
        server = AnnouncedServer(folder, SERVER, f"http://node7:{number}/v1", number)
    server.withdraw()
    [silent] = folder.glob("*/*_0.json")
    os.utime(silent, (time.time() - SILENCE - 600,) * 2)


def begin_servers(project: Project) -> None:
    for name in ("shards", "servers"):
        (project.root / RUN / name).mkdir(parents=True)
    (project.root / RUN / "config.py").write_text((project.root / "eval.py").read_text())


def merge(project: Project) -> None:
    done = project.run("merge", str(RUN))
    assert done.returncode == 0, done.stderr


STATES: dict[str, tuple[list[Callable[[Project], None]], list[str], list[str]]] = {
    "only servers": (
        [begin_servers],
        ["No server is announced. Start some: aisprompt serve CONFIG -r nightly", f"{RUN}: no shard has begun"],
        ["merge"],
    ),
    "one shard is done": (
        [lambda project: ask(project, 0)],
        ["0/2  finished", "1/2  missing", "1 of 2 shards are done.", "--shard 1/2"],
        ["merge", "server"],
    ),
    "all shards are done": (
        [lambda project: ask(project, 0, 1)],
        ["2 of 2 shards are done.", f"Put them together: aisprompt merge {RUN}"],
        ["They are"],
    ),
    "merged": (
        [lambda project: ask(project, 0, 1), merge],
        ["2 of 2 shards are done.", f"They are put together. See the scores: aisprompt view {RUN}"],
        ["aisprompt merge"],
    ),
    "asked again after a merge": (
        [lambda project: ask(project, 0, 1), merge, lambda project: ask(project, 0)],
        [f"Put them together: aisprompt merge {RUN}"],
        ["They are"],
    ),
    "with servers": (
        [lambda project: ask(project, 0), serve],
        ["server http://node7:0/v1  silent for 11 min", "server http://node7:1/v1  running (process"],
        ["node7:2", "No server"],
    ),
}


def test_a_status_and_a_merge_are_documents(project: Project) -> None:
    ask(project, 0)
    found = json.loads(project.run("status", str(RUN), "--json").stdout)
    assert [(one["shard"], one["state"], one["answered"] > 0) for one in found["shards"]] == [
        ("0/2", "finished", True),
        ("1/2", "missing", False),
    ]
    ask(project, 1)
    merged = json.loads(project.run("merge", str(RUN), "--json").stdout)
    assert (merged["kind"], merged["exit_code"]) == ("merge", 0)
    assert merged["scores"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", STATES)
def test_the_state_of_a_run_is_shown_and_what_to_do_next(project: Project, name: str) -> None:
    steps, present, absent = STATES[name]
    for step in steps:
        step(project)
    done = project.run("status", str(RUN))
    assert done.returncode == 0, done.stderr
    for text in present:
        assert text in done.stdout
    for text in absent:
        assert text not in done.stdout


def test_a_run_without_shards_has_a_status(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0
    found = json.loads(project.run("status", "eval", "--json").stdout)
    assert (found["shards"], Path(found["folder"]).parent.name) == ([], "eval")
    assert "it has no shards" in found["lines"][-1]
