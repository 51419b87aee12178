"""`aisprompt run --shard`, `merge` and `status`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.shards.shard_folders import parse_shard
from ais_prompt.types import SILENCE, Shard
from bench.kills import Bench, measure
from tests.core.e2e.project import MODEL, Project, read_lines
from tests.support.servers import MockServer, mock_server
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

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


def test_a_quiet_shard_does_not_name_its_run_folder(project: Project) -> None:
    assert "Run folder: " in shard(project, "0/3").stderr
    assert shard(project, "1/3", "-q").stderr == ""


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
    changes = {
        "models.0.max_out_len=9": "decoding.fake/sums.max_out_len is 9, theirs is 256",
        "datasets.0.reader_cfg.test_range='[:4]'": "datasets.sums.reader_cfg.test_range is '[:4]', theirs is None",
    }
    for change, said in changes.items():
        done = shard(project, "1/2", "--set", change)
        assert done.returncode == 2
        assert "this shard would not ask what the others ask" in done.stderr
        assert said in done.stderr
    project.write_data([{"question": "1+1=?", "answer": "2"}] * 8)
    done = shard(project, "1/2")
    assert done.returncode == 2
    assert "rows.sums differs" in done.stderr
    assert str(run_folder(project).relative_to(project.root)) in done.stderr


def test_a_shard_of_another_version_is_refused(project: Project) -> None:
    assert shard(project, "0/2").returncode == 0
    [agreed] = run_folder(project).glob("shards/*/shard.json")
    agreed.write_text(json.dumps({**json.loads(agreed.read_text()), "version": "0.0.1"}))
    done = shard(project, "1/2")
    assert done.returncode == 2
    assert "theirs is '0.0.1'" in done.stderr


def test_parts_of_another_run_are_refused(project: Project) -> None:
    assert shard(project, "0/2").returncode == 0
    run_folder(project).rename(project.root / "part")
    assert shard(project, "1/2", "--set", "models.0.max_out_len=9").returncode == 0
    done = project.run("merge", "4711", "part")
    assert done.returncode == 2
    assert "decoding.fake/sums.max_out_len is 9, theirs is 256" in done.stderr
    assert len(list(run_folder(project).glob("shards/*"))) == 1


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


def test_lines_of_others_in_a_journal_are_named_and_left_alone(project: Project) -> None:
    assert shard(project, "0/2").returncode == 0
    [journal] = run_folder(project).glob("shards/*/journal/fake/sums.jsonl")
    journal.write_bytes(b'\xff not of a journal\n{"key": 1}\n' + journal.read_bytes())
    before = journal.read_bytes()
    assert shard(project, "0/1").returncode == 0
    assert journal.read_bytes() == before
    [log] = run_folder(project).glob("shards/*_0-of-1_*/logs/run.log")
    assert f"{journal.relative_to(project.root)}: 2 unreadable line(s)" in log.read_text()


def test_a_full_disk_ends_one_shard_only(project: Project) -> None:
    project.write_data([{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(60)])
    project.write_config(models=MODEL.replace("'It is 4.'", repr("x" * 700)))
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000)); "
        "from ais_prompt.cli import main; sys.exit(main())"
    )
    full = subprocess.run(
        [sys.executable, "-c", limited, "run", "eval.py", "-r", "4711", "--shard", "0/2"],
        cwd=project.root,
        env={**project.variables(), "PYTHONDONTWRITEBYTECODE": "1"},  # it could only write the start of such files
        capture_output=True,
        text=True,
        timeout=WATCHDOG_SECONDS,
    )
    assert full.returncode == 3, full.stderr
    assert "cannot write: File too large" in full.stderr
    assert shard(project, "1/2", "-m", "infer").returncode == 0
    assert shard(project, "0/2", "-m", "infer").returncode == 0
    keys = [
        line["key"]
        for path in run_folder(project).glob("shards/*/journal/fake/*")
        for line in read_lines_but_torn(path)
    ]
    assert len(keys) == len({*keys}) == 60


def test_open_tasks_are_read_once_and_earlier_predictions_stay(project: Project) -> None:
    assert shard(project, "1/3", "-m", "infer").returncode == 0
    earlier = run_folder(project) / "predictions" / "fake" / "sums.jsonl"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("of an earlier session")
    assert " of 8" in project.run("score", str(run_folder(project))).stdout
    assert earlier.read_text() == "of an earlier session"
    assert 0 < len(read_lines(run_folder(project) / "partial" / "predictions" / "fake" / "sums.jsonl")) < 8
    for index in (0, 2):
        assert shard(project, f"{index}/3", "-m", "infer").returncode == 0
    assert "25.0 %" in project.run("score", str(run_folder(project))).stdout
    assert len(read_lines(earlier)) == 8


def test_predictions_of_shards_are_joined_without_their_journals(project: Project) -> None:
    for index in range(2):
        assert shard(project, f"{index}/2", "-m", "infer").returncode == 0
    for journal in run_folder(project).glob("shards/*/journal/fake/sums.jsonl"):
        journal.unlink()
    done = project.run("merge", "4711")
    assert done.returncode == 0, done.stderr
    assert "25.0 %" in done.stdout


def test_predictions_that_were_lost_are_made_of_the_journal(project: Project) -> None:
    for index in range(2):
        assert shard(project, f"{index}/2", "-m", "infer").returncode == 0
    broken, missing = run_folder(project).glob("shards/*/predictions/fake/sums.jsonl")
    for lose in (lambda: broken.write_bytes(bytes(100)), missing.unlink):
        lose()
        done = project.run("merge", "4711")
        assert done.returncode == 0, done.stderr
        assert "25.0 %" in done.stdout


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


def test_shards_of_a_model_behind_a_server_ask_each_question_once(project: Project, server: MockServer) -> None:
    project.write_config(
        models=f"dict(type='OpenAIChatModel', abbr='fake', model='mock', base_url={server.base_url!r})"
    )
    for index in range(3):
        done = shard(project, f"{index}/3")
        assert done.returncode == 0, done.stderr
    assert "100.0 %" in done.stdout
    assert server.stats()["requests"] == 8


@pytest.mark.slow
def test_shards_killed_at_once_while_their_number_changes_lose_nothing_and_ask_nothing_twice(tmp_path: Path) -> None:
    with mock_server(latency=0.02) as one, mock_server(latency=0.02) as other:
        bench = Bench(tmp_path, [[one.base_url], [other.base_url]], 4, 40)
        outcome = measure(bench, kills=9, seed=3, step=60, shards=(4, 7, 2))
    assert (outcome.predictions, outcome.wrong) == (320, 0)
    assert (outcome.twice, outcome.repeated) == (0, 0)


def read_lines_but_torn(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


def test_a_shard_on_the_command_line() -> None:
    assert parse_shard("3/8") == Shard(3, 8)


@pytest.mark.parametrize("text", ["8/8", "0/0", "-1/2", "a/b", "3", "auto/2"])
def test_shards_that_cannot_be(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_shard(text, {})


@pytest.mark.parametrize(
    "args",
    [
        ("--shard", "0/2"),
        ("-r", "a/b", "--shard", "0/2"),
        ("-r", "latest", "--shard", "0/2"),
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
