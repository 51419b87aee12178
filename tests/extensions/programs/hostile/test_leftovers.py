"""Nothing stays behind: after a run was killed, and after 300 programs."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

from ais_prompt.extensions.programs.sandbox import CheckedProgram, Isolation, end_spares, find_isolation, run_program
from tests.extensions.programs.hostile.attack_all import NEIGHBOUR
from tests.extensions.programs.hostile.test_hostile import ROOT, command_without_rights, skip_without
from tests.support.real_data import HUMANEVAL, needs

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="programs are confined on Linux only"),
]

_PR_SET_CHILD_SUBREAPER = 36
_START_SECONDS = 0.12
"""Time in which a sandbox has started, and has run a small program."""


def named(name: str) -> list[int]:
    """Processes of this name that run; one that ended and waits for its parent is none."""
    found = psutil.process_iter(["name", "status"])
    return [process.pid for process in found if process.info["name"] == name and process.info["status"] != "zombie"]


def wait_until(condition: object, seconds: float = 60.0) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("user", ["me", "without rights"])
def test_nothing_outlives_a_run_that_was_killed(level: str, user: str) -> None:
    skip_without(level)
    python = [sys.executable] if user == "me" else command_without_rights()
    name = f"kill{uuid.uuid4().hex[:8]}"
    command = [*python, "-m", "tests.extensions.programs.hostile.run_one", level, name]
    run = subprocess.Popen(command, cwd=ROOT if user == "me" else "/", stdout=subprocess.PIPE)
    assert run.stdout is not None
    with run, run.stdout:
        assert run.stdout.readline() == b"ready\n"
        assert wait_until(lambda: named(name))
        run.kill()
    assert wait_until(lambda: not named(name))
    assert not Path(f"/tmp/hostile{name}").exists()


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("user", ["me", "without rights"])
@pytest.mark.parametrize("kills", [4, pytest.param(80, marks=pytest.mark.slow)])
def test_nothing_outlives_a_run_that_was_killed_in_a_start(level: str, user: str, kills: int) -> None:
    skip_without(level)
    python = [sys.executable] if user == "me" else command_without_rights()
    command = [*python, "-m", "tests.extensions.programs.hostile.run_starts", level]
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what outlives a run becomes a child of this process
    try:
        before = set(psutil.Process().children(recursive=True))
        for number in range(kills):
            run = subprocess.Popen(command, cwd=ROOT if user == "me" else "/", stdout=subprocess.PIPE)
            with run:
                assert run.stdout is not None
                assert run.stdout.readline() == b"starting\n"
                time.sleep(_START_SECONDS * number / kills)
                run.kill()
            assert wait_until(lambda: not alive(before)), f"killed {number / kills:.0%} into a start"
    finally:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def alive(others: set[psutil.Process]) -> list[psutil.Process]:
    """The processes below this one that still run, but for the others; those that ended are reaped."""
    found = [child for child in psutil.Process().children(recursive=True) if child not in others]
    living: list[psutil.Process] = psutil.wait_procs(found, timeout=0)[1]
    return living


@pytest.mark.slow
@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_300_programs_leave_nothing(level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without(level)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    isolation = find_isolation(level)
    name = f"many{uuid.uuid4().hex[:8]}"
    others = children()  # of earlier tests; each may end meanwhile
    before = state(others)
    for number in range(300):
        assert_outcome(number, name, isolation)
    end_spares()
    assert state(others) == before
    assert list(tmp_path.iterdir()) == []
    assert named(name) == []
    left = [*Path("/tmp").glob(f"*{name}*"), *Path("/dev/shm").glob(f"*{name}*")]
    assert left == []


def assert_outcome(number: int, name: str, isolation: Isolation) -> None:
    """Every other program is right; the others leave all that they can."""
    if number % 2:
        assert run_program(NEIGHBOUR, isolation, 60, 512) == "passed"
        return
    leaving = f"""
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0)
for folder in ('/tmp', '/dev/shm', '/var/tmp'):
    try: open(folder + '/{name}{number}', 'w').write('x')
    except OSError: pass
ctypes.CDLL(None).shmget(0, 4096, 0o1666)
try:
    if not os.fork():
        os.setsid()
        time.sleep(300)
except OSError:
    pass
"""
    assert run_program(CheckedProgram(leaving, [([], "assert False")]), isolation, 60, 512) == "assertion"


def children() -> set[int]:
    """The processes below this one, without those that are kept ready for the next program."""
    end_spares()
    return {child.pid for child in psutil.Process().children(recursive=True)}


def state(others: set[int]) -> dict[str, object]:
    """What programs could leave on this machine, as far as it is this process's or without an owner."""
    return {
        "children": sorted(children() - others),
        "mounts": Path("/proc/self/mountinfo").read_text().splitlines(),
        "descriptors": psutil.Process().num_fds(),
        "threads": psutil.Process().num_threads(),
        "segments": [line for line in Path("/proc/sysvipc/shm").read_text().splitlines() if f" {os.getpid()} " in line],
    }


@pytest.mark.slow
@needs(HUMANEVAL)
@pytest.mark.parametrize("user", ["me", "without rights"])
def test_all_solutions_of_humaneval_pass(user: str) -> None:
    python = [sys.executable] if user == "me" else command_without_rights()
    command = [*python, "-P", str(ROOT / "bench/sandbox.py"), str(HUMANEVAL), "--one"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} if user == "me" else None
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=900)
    assert '"programs": 164, "passed": 164' in done.stdout, done.stderr
