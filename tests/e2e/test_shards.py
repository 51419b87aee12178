"""`aisprompt run --shard`, `merge` and `status`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.store.shards import SILENCE, parse_shard
from ais_prompt.types import Shard
from tests.e2e.project import MODEL, Project, read_lines
from tests.waiting import wait_until

pytestmark = pytest.mark.process

TIMES = {"seconds", "first_token_seconds", "times", "started", "waited"}
"""Keys of a completion that differ from run to run."""


def run_folder(project: Project) -> Path:
    return project.root / "outputs" / "eval" / "4711"


def shard(project: Project, which: str, *args: str) -> Any:
    return project.run("run", "eval.py", "-r", "4711", "--shard", which, *args)


def without_times(values: Any) -> Any:
    if isinstance(values, dict):
        return {key: without_times(value) for key, value in values.items() if key not in TIMES}
    return [without_times(value) for value in values] if isinstance(values, list) else values


def test_the_last_shard_scores_the_run_as_one_process_does(project: Project) -> None:
    for index in range(2):
        done = shard(project, f"{index}/3")
        assert done.returncode == 0, done.stderr
        assert f"Shard {index}/3 is done" in done.stdout
    done = shard(project, "2/3")
    assert done.returncode == 0, done.stderr
    assert "25.0 %" in done.stdout
    assert project.run("run", "eval.py").returncode == 0
    [whole] = (path for path in (project.root / "outputs" / "eval").iterdir() if path.name != "4711")
    for file in ("predictions/fake/sums.jsonl", "results/fake/sums.json", "summary/summary.json"):
        merged, single = (folder / file for folder in (run_folder(project), whole))
        if file.endswith("l"):
            assert without_times(read_lines(merged)) == without_times(read_lines(single))
        else:
            assert merged.read_bytes() == single.read_bytes()
    journals = list(run_folder(project).glob("shards/*/journal/fake/sums.jsonl"))
    assert sum(len(read_lines(journal)) for journal in journals) == 8


def test_another_number_of_shards_asks_only_what_is_missing(project: Project) -> None:
    assert shard(project, "0/3").returncode == 0
    before = {path: path.read_bytes() for path in run_folder(project).glob("shards/*/journal/*/*")}
    assert shard(project, "1/2").returncode == 0
    assert shard(project, "0/2").returncode == 0
    journals = list(run_folder(project).glob("shards/*/journal/fake/sums.jsonl"))
    assert sum(len(read_lines(journal)) for journal in journals) == 8
    assert {path: path.read_bytes() for path in before} == before


def test_a_part_is_scored_and_shown_as_a_part(project: Project) -> None:
    assert shard(project, "1/3").returncode == 0
    done = project.run("merge", str(run_folder(project)))
    assert done.returncode == 1
    assert "of 8" in done.stdout
    state = project.run("status", "eval/4711")
    assert "1 of 3 shards are done" in state.stdout
    assert "--shard 0/3, 2/3" in state.stdout
    for index in (0, 2):
        assert shard(project, f"{index}/3", "-m", "infer").returncode == 0
    assert "25.0 %" in project.run("score", str(run_folder(project))).stdout
    assert "3 of 3 shards are done" in project.run("status", "4711").stdout


def test_parts_from_machines_without_a_shared_disk(project: Project) -> None:
    for index in range(2):
        assert shard(project, f"{index}/2", "-m", "infer").returncode == 0
        run_folder(project).rename(project.root / f"part{index}")
    assert " of 8" in project.run("merge", "part0").stdout
    done = project.run("merge", "part0", "part1")
    assert done.returncode == 0, done.stderr
    assert "25.0 %" in done.stdout


def test_a_shard_that_asks_something_else_is_refused(project: Project) -> None:
    assert shard(project, "0/2").returncode == 0
    asked = ("--set", "models.0.max_out_len=9"), ("--set", "datasets.0.reader_cfg.test_range='[:4]'")
    for change in asked:
        done = shard(project, "1/2", *change)
        assert done.returncode == 2
        assert "this shard would not ask what the others ask" in done.stderr
    project.write_data([{"question": "1+1=?", "answer": "2"}] * 8)
    done = shard(project, "1/2")
    assert done.returncode == 2
    assert "rows.sums" in done.stderr


def test_a_torn_journal_and_foreign_files_are_left_alone(project: Project) -> None:
    assert shard(project, "0/2").returncode == 0
    [journal] = run_folder(project).glob("shards/*/journal/fake/sums.jsonl")
    (run_folder(project) / "shards" / "notes.txt").write_text("mine")
    (run_folder(project) / "shards" / "lost+found").mkdir()
    with journal.open("ab") as file:
        file.write(b'{"key": "torn')
    torn = journal.read_bytes()
    assert shard(project, "1/2").returncode == 0
    assert journal.read_bytes() == torn
    assert "25.0 %" in project.run("score", str(run_folder(project))).stdout


def test_a_killed_shard_is_dead_and_taken_up_again(project: Project) -> None:
    slow = MODEL.replace("default=", "delay=0.3, default=")
    project.write_config(models=slow)
    process = project.start("run", "eval.py", "-r", "4711", "--shard", "0/1")
    journal = "shards/*/journal/fake/sums.jsonl"
    wait_until(lambda: any(path.stat().st_size for path in run_folder(project).glob(journal)), "an answer")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    [first] = run_folder(project).glob("shards/*")
    os.utime(first / "heartbeat", (time.time() - 2 * SILENCE,) * 2)
    assert "dead" in project.run("status", "4711").stdout
    finished = len(read_lines_but_torn(first / "journal/fake/sums.jsonl"))
    project.write_config()
    assert shard(project, "0/1").returncode == 0
    second = next(path for path in run_folder(project).glob("shards/*") if path != first)
    assert len(read_lines(second / "journal/fake/sums.jsonl")) == 8 - finished
    assert "25.0 %" in project.run("score", str(run_folder(project))).stdout


def read_lines_but_torn(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


@pytest.mark.parametrize(
    ("text", "environment", "expected"),
    [
        ("3/8", {}, Shard(3, 8)),
        (
            "auto/4",
            {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_STEP": "2"},
            Shard(2, 4),
        ),
        ("auto/4", {"JOB_COMPLETION_INDEX": "3"}, Shard(3, 4)),
    ],
)
def test_shards_on_the_command_line(text: str, environment: dict[str, str], expected: Shard) -> None:
    assert parse_shard(text, environment) == expected


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("8/8", {}),
        ("0/0", {}),
        ("-1/2", {}),
        ("a/b", {}),
        ("3", {}),
        ("auto/2", {}),
        ("auto/2", {"SLURM_ARRAY_TASK_ID": "2"}),
        ("auto/2", {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MIN": "5"}),
        ("auto/2", {"JOB_COMPLETION_INDEX": "x"}),
    ],
)
def test_shards_that_cannot_be(text: str, environment: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        parse_shard(text, environment)


@pytest.mark.parametrize(
    "args",
    [
        ("--shard", "0/2"),
        ("-r", "a/b", "--shard", "0/2"),
        ("-r", "latest", "--shard", "0/2"),
        ("-r", "4711", "--shard", "0/2", "--stop-early"),
        ("-r", "4711", "--shard", "0/2", "--gate", "accuracy >= 80%"),
        ("-r", "4711", "--shard", "0/2", "-m", "viz"),
    ],
)
def test_what_makes_no_sense_with_shards(project: Project, args: tuple[str, ...]) -> None:
    done = project.run("run", "eval.py", *args)
    assert done.returncode == 2
    assert not (project.root / "outputs").exists()


def test_a_run_without_shards_has_a_status(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0
    assert "finished; it has no shards" in project.run("status", "eval").stdout
    assert project.run("merge", "eval").returncode == 0
    shutil.rmtree(project.folder())
    assert project.run("status", "eval").returncode == 2
