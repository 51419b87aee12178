"""`aisprompt run --runner`: shards that one command starts, follows and scores."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.core.e2e.project import MODEL, ROWS, Project, read_lines
from tests.extensions.shards.test_shards import without_times
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process

THREE = ("--runner", "local", "--set", "runner.num_shards=3")
RUNNER = "runner = dict(type='LocalRunner', num_shards=2, max_num_workers=2"
FILES = ("predictions/fake/sums.jsonl", "results/fake/sums.json", "summary/summary.json")


def shards(folder: Path) -> list[Path]:
    return sorted((folder / "shards").iterdir())


def answers(folder: Path) -> int:
    return sum(len(read_lines(journal)) for journal in folder.glob("shards/*/journal/*/*.jsonl"))


def assert_same_scores(sharded: Path, whole: Path) -> None:
    """Two run folders have the same bytes, times aside."""
    for file in FILES:
        if file.endswith("l"):
            assert without_times(read_lines(sharded / file)) == without_times(read_lines(whole / file))
        else:
            assert (sharded / file).read_bytes() == (whole / file).read_bytes()


def processes_of(project: Project) -> list[psutil.Process]:
    """The processes of the program that work in this project."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(project.root) in word for word in process.info["cmdline"] or ()):
            found.append(process)
    return found


def test_the_shards_of_a_runner_give_the_bytes_of_one_process(project: Project) -> None:
    done = project.run("run", "eval.py", *THREE)
    assert done.returncode == 0, done.stderr
    assert "25.0 %" in done.stdout
    sharded = project.folder()
    assert len(shards(sharded)) == 3
    assert answers(sharded) == len(ROWS)
    assert project.run("run", "eval.py", "-w", "whole").returncode == 0
    [whole] = (project.root / "whole" / "eval").iterdir()
    assert_same_scores(sharded, whole)
    # A second session asks nothing again.
    assert project.run("run", "eval.py", *THREE, "-r").returncode == 0
    assert answers(sharded) == len(ROWS)


def test_a_runner_of_the_config_and_gates_of_the_command(project: Project) -> None:
    project.write_config(more=f"{RUNNER})")
    done = project.run("run", "eval.py", "--gate", "accuracy >= 80%", "--num-prompts", "4")
    assert done.returncode == 1, done.stderr
    assert "FAIL  accuracy >= 80%" in done.stdout
    assert answers(project.folder()) == 4


def test_a_killed_shard_is_started_again(project: Project) -> None:
    project.write_config(models=MODEL.replace("default=", "die_after=3, default="))
    done = project.run("run", "eval.py", "--runner", "local", "--set", "runner.num_shards=1")
    assert done.returncode == 0, done.stderr
    assert len(shards(project.folder())) == 3  # 3 answers, 3 answers, 2 answers
    assert answers(project.folder()) == len(ROWS)
    assert "25.0 %" in done.stdout


def test_a_shard_that_dies_each_time_is_given_up_and_the_rest_is_scored(project: Project) -> None:
    project.write_config(models=MODEL.replace("default=", "die_after=1, default="))
    done = project.run(
        "run", "eval.py", "--runner", "local", "--set", "runner.num_shards=2", "--set", "runner.restarts=1"
    )
    assert done.returncode == 3
    assert "killed by signal 9" in done.stderr
    assert len(shards(project.folder())) == 4
    assert "4 of 8" in done.stdout


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_runner_stops_its_shards(project: Project, number: int, code: int) -> None:
    project.write_config(models=MODEL.replace("default=", "delay=600.0, default="), more=f"{RUNNER})")
    process = project.start("run", "eval.py")
    folder = project.root / "outputs" / "eval"
    wait_until(lambda: len(list(folder.glob("*/shards/*/run.json"))) == 2, "two shards")
    assert len(processes_of(project)) == 2
    process.send_signal(number)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == code
    assert "stopped, with all shards" in err
    assert not processes_of(project)
    states = [json.loads(path.read_text())["status"] for path in folder.glob("*/shards/*/run.json")]
    assert states == ["preempted", "preempted"]


@pytest.mark.slow
def test_a_runner_that_was_killed_leaves_shards_that_the_next_one_follows(project: Project) -> None:
    project.write_config(models=MODEL.replace("default=", "delay=2.0, max_concurrency=1, default="), more=f"{RUNNER})")
    process = project.start("run", "eval.py")
    folder = project.root / "outputs" / "eval"
    wait_until(lambda: len(list(folder.glob("*/shards/*/run.json"))) == 2, "two shards")
    process.kill()
    process.communicate()
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert len(shards(project.folder())) == 2
    assert answers(project.folder()) == len(ROWS)


def test_a_dry_run_shows_the_commands_and_starts_nothing(project: Project) -> None:
    done = project.run("run", "eval.py", *THREE, "--dry-run", "--max-requests", "6", "--gate", "accuracy >= 1%")
    assert done.returncode == 0, done.stderr
    commands = [line for line in done.stdout.splitlines() if "--shard" in line]
    assert [line.split("--shard ")[1] for line in commands] == ["0/3", "1/3", "2/3"]
    assert all("--max-requests 2" in line and "--gate" not in line for line in commands)
    assert not (project.root / "outputs").exists()


def test_the_arguments_of_the_command_reach_the_shards(project: Project) -> None:
    given = ("--set", "models.0.max_out_len=9", "--num-prompts", "2", "--allow-code-execution", "--debug")
    done = project.run("run", "eval.py", *given, *THREE, "--dry-run", "-w", "my runs")
    [first, *_] = (line for line in done.stdout.splitlines() if "--shard" in line)
    for word in ("eval.py", "--set models.0.max_out_len=9", "--num-prompts 2", "--debug", "--work-dir 'my runs'"):
        assert f" {word} " in first
    assert " --allow-code-execution " in first


def test_shards_that_end_at_once_are_not_started_again(project: Project) -> None:
    project.write_config(more=f"{RUNNER})")
    # The shards read a config without models.
    (project.root / "eval.py").write_text(
        f"import sys\n{(project.root / 'eval.py').read_text()}models = [] if '--shard' in sys.argv else models\n"
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "0/2  exit code 2" in done.stderr
    assert "the config has no models: the list is empty" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--runner", "locl"), ("there is no runner 'locl'", "did you mean 'local'?")),
        (("--runner", "my_parts.Runner"), ("no module 'my_parts'",)),
        ((*THREE, "--set", "runner.num_shard=2"), ("LocalRunner has no argument 'num_shard'", "'num_shards'")),
        ((*THREE, "--set", "runner.num_shards=0"), ("num_shards must be at least 1",)),
        ((*THREE, "--max-requests", "2"), ("max_requests is smaller than the number of shards, 3",)),
    ],
)
def test_bad_input(project: Project, args: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = project.run("run", "eval.py", *args)
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert not list(project.root.glob("outputs/eval/*/shards"))


def test_gpus_are_shared_out(project: Project) -> None:
    project.environment["CUDA_VISIBLE_DEVICES"] = "4,5,7"
    project.write_config(models=MODEL.replace("default=", "delay=0.5, default="))
    options: dict[str, Any] = {"num_shards": 4, "num_gpus": 1}
    given = [word for name, value in options.items() for word in ("--set", f"runner.{name}={value}")]
    done = project.run("run", "eval.py", "--runner", "local", *given, "--dry-run")
    assert "# 3 at a time, each with 1 GPUs" in done.stdout
    too_many = project.run("run", "eval.py", "--runner", "local", "--set", "runner.num_gpus=4")
    assert too_many.returncode == 2
    assert "each shard needs 4 GPUs, and this machine shows 3" in too_many.stderr


def test_shards_import_nothing_from_the_working_directory(project: Project) -> None:
    for module in ("click", "msgspec", "mmengine"):
        (project.root / f"{module}.py").write_text("open('imported', 'w')\n")
    done = project.run("run", "eval.py", "--runner", "local", "--set", "runner.num_shards=1")
    assert done.returncode == 0, done.stderr
    assert not (project.root / "imported").exists()
