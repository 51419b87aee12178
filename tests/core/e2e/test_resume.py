"""Nothing is asked twice and nothing is lost: Ctrl-C, SIGTERM, kill -9, a second process, a changed config."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.core.e2e.project import Project
from tests.support.waiting import WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process


SLOW = "dict(type='ScriptedModel', abbr='fake', default='It is 4.', delay=0.05, max_concurrency=2)"
QUICK = SLOW.replace(", delay=0.05", "")
ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(60)]


def start_and_wait(project: Project, answers: int, *args: str) -> subprocess.Popen[str]:
    """Start a run and wait until so many answers are in its journal."""
    process = project.start("run", "eval.py", *args)

    def has_answers() -> bool:
        journals = list(project.root.glob("outputs/eval/*/journal/fake/sums.jsonl"))
        return process.poll() is not None or any(path.read_bytes().count(b"\n") >= answers for path in journals)

    wait_until(has_answers, f"{answers} answers")
    assert process.poll() is None, process.communicate()
    return process


def asked(folder: Path) -> list[str]:
    journal = (folder / "journal/fake/sums.jsonl").read_text().splitlines()
    return [json.loads(line)["sample_id"] for line in journal]


@pytest.mark.parametrize(
    ("sign", "code", "status", "error"),
    [
        (signal.SIGINT, 130, "interrupted", "Interrupted"),
        (signal.SIGTERM, 143, "preempted", "Terminated"),
    ],
)
def test_an_interrupted_run_says_how_to_go_on_and_asks_only_the_rest(
    project: Project, sign: signal.Signals, code: int, status: str, error: str
) -> None:
    project.write_data(ROWS)
    project.write_config(models=SLOW)
    process = start_and_wait(project, 5)
    process.send_signal(sign)
    _, err = process.communicate(timeout=WATCHDOG_SECONDS)
    assert process.returncode == code, err
    name = project.folder().name
    assert f"{error}: stopped; every answer so far is kept" in err
    assert f"-r {name}" in err
    assert "Traceback" not in err
    before = len(asked(project.folder()))
    assert json.loads((project.folder() / "run.json").read_text())["status"] == status

    project.write_config(models=QUICK)
    done = project.run("run", "eval.py", "-r", name)
    assert done.returncode == 0, done.stderr
    assert f"{before} of 60 samples are answered already, {60 - before} will be asked" in done.stderr
    assert len(asked(project.folder())) == len(set(asked(project.folder()))) == 60
    assert [session["status"] for session in _record(project)["sessions"]] == [status, "finished"]


def test_after_kill_9_nothing_is_asked_twice(project: Project) -> None:
    project.write_data(ROWS)
    project.write_config(models=SLOW)
    process = start_and_wait(project, 7)
    process.kill()
    process.communicate()
    before = asked(project.folder())
    # What a crash can leave at the end of the file.
    with (project.folder() / "journal/fake/sums.jsonl").open("a") as journal:
        journal.write('{"key": "12ab", "sample')

    project.write_config(models=QUICK)
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert asked(project.folder())[: len(before)] == before
    assert len(asked(project.folder())) == len(set(asked(project.folder()))) == 60
    assert len(project.predictions()) == 60


def test_failed_samples_are_asked_again(project: Project) -> None:
    failing = "dict(type='ScriptedModel', abbr='fake', default='It is 4.', fail_after=5, max_concurrency=1)"
    project.write_config(models=failing)
    assert project.run("run", "eval.py").returncode == 1
    project.write_config(models=failing.replace("fail_after=5", "fail_after=None"))
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert "5 of 8 samples are answered already" in done.stderr
    assert all(line["prediction"] == "It is 4." for line in project.predictions())


def test_answers_to_another_prompt_are_not_reused_and_the_change_is_told(project: Project) -> None:
    project.run("run", "eval.py")
    config = project.root / "eval.py"
    config.write_text(config.read_text().replace("Answer: ", "Result: "))
    done = project.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert "the config changed since the last session" in done.stderr
    assert "Result: {answer}" in done.stderr
    assert "0 of 8 samples are answered already, 8 will be asked; 8 stored answers belong to other" in done.stderr
    assert all("Result: " in line["origin_prompt"][0]["content"] for line in project.predictions())


def test_a_second_process_cannot_write_the_same_folder(project: Project) -> None:
    project.write_data(ROWS)
    project.write_config(models=SLOW.replace("0.05", "0.5"))
    process = start_and_wait(project, 1)
    try:
        second = project.run("run", "eval.py", "-r")
        assert second.returncode == 3
        assert f"another process writes this run folder: PID {process.pid}" in second.stderr
    finally:
        process.kill()
        process.communicate()


def test_an_unknown_run_lists_those_that_exist(project: Project) -> None:
    project.run("run", "eval.py")
    done = project.run("run", "eval.py", "-r", "20000101_000000")
    assert done.returncode == 2
    assert project.folder().name in done.stderr


@pytest.mark.parametrize(
    "words", [("-r", "nope", "eval.py"), ("eval.py", "-r", "nope"), ("eval.py", "--reuse", "nope")]
)
def test_a_name_that_no_run_has_is_taken_as_a_run(project: Project, words: tuple[str, ...]) -> None:
    project.run("run", "eval.py")
    done = project.run("run", *words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "ConfigError: there is no run 'nope'"
    assert project.folder().name in done.stderr


def test_a_config_after_the_option_is_the_config_of_the_latest_run(project: Project) -> None:
    project.run("run", "eval.py")
    for config in ("eval.py", "./eval"):
        assert "Run folder" in project.run("run", "-r", config).stdout
    assert len(list((project.root / "outputs" / "eval").iterdir())) == 1


def test_a_run_alone_needs_its_config(project: Project) -> None:
    done = project.run("run", "-r", "nope")
    assert done.returncode == 2
    assert "'nope' names the run to go on with, and there is no config" in done.stderr


def _record(project: Project) -> dict[str, list[dict[str, str]]]:
    record: dict[str, list[dict[str, str]]] = json.loads((project.folder() / "run.json").read_text())
    return record
