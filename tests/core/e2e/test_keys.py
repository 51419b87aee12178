"""What makes `-r` and the cache ask again, and what does not: addresses, golds, columns, clocks, time zones."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.core.e2e.project import DATASET, ROWS, Project
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


def served(server: MockServer, more: str = "") -> str:
    return (
        f"dict(type='OpenAIChatModel', abbr='fake', model='default', base_url={server.base_url!r}, api_key=None{more})"
    )


@pytest.fixture
def servers(server: MockServer, second_server: MockServer) -> tuple[MockServer, MockServer]:
    return server, second_server


def test_another_address_asks_for_nothing_and_says_so(project: Project, servers: tuple[MockServer, MockServer]) -> None:
    one, other = servers
    project.write_config(models=served(one))
    assert project.run("run", "eval.py").returncode == 0
    project.write_config(models=served(other, ", stream=True, timeout=9, retry=1"))
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert other.stats()["requests"] == 0
    note = f"fake: earlier answers came from {one.base_url}, now {other.base_url} is asked"
    assert note in " ".join(done.stderr.split())
    again = project.run("run", "eval.py", "-r")
    assert "earlier answers came from" not in again.stderr


FLAT = """, max_out_len=32, stop_words=['END'], generation_kwargs=dict(temperature=0.5, top_p=0.9, top_k=5), seed=3,
    stream=True, max_concurrency=2, timeout=30, retry=1, traffic_cfg=dict(adaptive=True)"""
VALUES = """, sampling=dict(max_out_len=32, stop=['END'], temperature=0.5, top_p=0.9, seed=3, extra=dict(top_k=5)),
    wire=dict(stream=True), limits=dict(max_concurrency=2, timeout=30, adaptive=True), retry=dict(retries=1)"""


@pytest.mark.parametrize(("before", "after"), [(FLAT, VALUES), (VALUES, FLAT)], ids=["flat first", "values first"])
def test_flat_options_and_values_make_the_same_run(
    project: Project, servers: tuple[MockServer, MockServer], before: str, after: str
) -> None:
    runs = []
    for server, options in zip(servers, (before, after), strict=True):
        project.write_config(models=served(server, options))
        assert project.run("run", "eval.py", "-w", f"run{len(runs)}").returncode == 0
        bodies = sorted(json.dumps(request["body"], sort_keys=True) for request in server.requests())
        [journal] = (project.root / f"run{len(runs)}").rglob("journal/fake/sums.jsonl")
        keys = sorted(json.dumps(json.loads(line)["key"], sort_keys=True) for line in journal.read_text().splitlines())
        [written] = (project.root / f"run{len(runs)}").rglob("predictions/fake/sums.jsonl")
        prompts = [json.loads(line)["origin_prompt"] for line in written.read_text().splitlines()]
        runs.append((bodies, keys, prompts))
    assert runs[0] == runs[1]
    assert '"top_k": 5' in runs[0][0][0]
    for server in servers:
        server.follow()
    project.write_config(models=served(servers[0], after))
    resumed = project.run("run", "eval.py", "-w", "run0", "-r")
    assert resumed.returncode == 0, resumed.stderr
    assert [server.stats()["requests"] for server in servers] == [0, 0]


def test_a_repaired_gold_and_another_column_ask_for_nothing(
    project: Project, servers: tuple[MockServer, MockServer]
) -> None:
    one, _ = servers
    project.write_config(models=served(one))
    assert project.run("run", "eval.py").returncode == 0
    ids = [line["id"] for line in project.predictions()]
    asked = one.stats()["requests"]
    project.write_data([{**row, "answer": "0", "source": "new"} for row in ROWS])
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert one.stats()["requests"] == asked
    assert [line["id"] for line in project.predictions()] == ids
    assert {line["gold"] for line in project.predictions()} == {"0"}


def test_the_cache_is_kept_apart_by_address_unless_the_model_has_an_identity(
    project: Project, servers: tuple[MockServer, MockServer]
) -> None:
    one, other = servers
    for more, requests in (("", 8), (", identity='llama-70b'", 0)):
        other.follow()
        for server in (one, other):
            project.write_config(models=served(server, more))
            assert project.run("run", "eval.py", "--cache", "cache").returncode == 0
        assert other.stats()["requests"] == requests


@pytest.fixture
def travel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Move this process to another time zone."""

    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def test_another_time_zone_chooses_no_other_run(project: Project, travel: Callable[[str], None]) -> None:
    latest, zones = "", ("Asia/Tokyo", "America/Los_Angeles")
    for zone in zones:
        travel(zone)
        done = project.run("run", "eval.py")
        latest = done.stdout.partition("Run folder: ")[2].split()[0]
        assert latest.partition("_")[2][6] == "Z"
    travel(zones[0])
    again = project.run("run", "eval.py", "-r")
    assert again.stdout.partition("Run folder: ")[2].split()[0] == latest
    assert "8 of 8 samples are answered already" in again.stderr


def test_a_clock_that_was_set_back_chooses_no_other_run(project: Project) -> None:
    first = project.run("run", "eval.py")
    folder = project.root / first.stdout.partition("Run folder: ")[2].split()[0]
    ahead = folder.rename(folder.with_name("20991231_235959Z"))
    record = json.loads((ahead / "run.json").read_text())
    record["sessions"][0]["started"] = "2099-12-31T23:59:59+00:00"
    (ahead / "run.json").write_text(json.dumps(record))
    latest = Path(project.run("run", "eval.py").stdout.partition("Run folder: ")[2].split()[0])
    again = project.run("run", "eval.py", "-r")
    assert f"Run folder: {latest}" in again.stdout


def test_equal_questions_are_asked_once_each(project: Project, servers: tuple[MockServer, MockServer]) -> None:
    one, _ = servers
    project.write_data([ROWS[0], ROWS[1], {**ROWS[0], "note": "a copy"}, ROWS[0]])
    project.write_config(models=served(one), datasets=DATASET)
    assert project.run("run", "eval.py").returncode == 0
    assert one.stats()["requests"] == 4
    journal = next(project.folder().glob("journal/fake/*.jsonl")).read_text().splitlines()
    assert len({json.loads(line)["key"] for line in journal}) == 4
    assert [line["id"].partition("-")[2] for line in project.predictions()] == ["", "", "2", "3"]
