"""``aisprompt view`` through the real program."""

from __future__ import annotations

import signal
import urllib.request

import pytest

from tests.core.e2e.project import Project
from tests.support.waiting import WATCHDOG_SECONDS


@pytest.mark.process
def test_the_report_of_the_latest_run_is_served_until_ctrl_c(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0
    process = project.start("view", "eval", "--no-open")
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        path, _, token = address.partition("?token=")
        assert path.endswith(f"/eval/{project.folder().name}")
        with urllib.request.urlopen(f"{path}/report.html?token={token}", timeout=WATCHDOG_SECONDS) as reply:
            assert reply.read() == (project.folder() / "report.html").read_bytes()
        process.send_signal(signal.SIGINT)
        assert process.wait(WATCHDOG_SECONDS) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.process
def test_a_folder_of_runs_is_listed(project: Project) -> None:
    assert project.run("run", "eval.py", "-w", "mine").returncode == 0
    process = project.start("view", "mine", "--no-open")
    try:
        assert process.stdout is not None
        with urllib.request.urlopen(process.stdout.readline().strip(), timeout=WATCHDOG_SECONDS) as reply:
            assert next((project.root / "mine/eval").iterdir()).name in reply.read().decode()
    finally:
        process.kill()
        process.communicate()


def test_scoring_again_writes_the_report_again_if_there_is_one(project: Project) -> None:
    project.run("run", "eval.py")
    report = project.folder() / "report.html"
    report.write_text("of earlier scores")
    assert project.run("score", str(project.folder())).returncode == 0
    assert report.read_text() != "of earlier scores"
    report.unlink()
    assert project.run("score", str(project.folder())).returncode == 0
    assert not report.exists()
    project.run("run", "eval.py", "-m", "viz", "-r")
    assert report.exists()


def test_a_run_that_is_not_there_is_an_error_in_three_lines(project: Project) -> None:
    done = project.run("view", "nothing", "--no-open")
    assert done.returncode == 2
    assert done.stderr.startswith("ConfigError: there is no run 'nothing'")
