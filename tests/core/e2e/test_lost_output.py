"""Standard output and standard error that cannot be written: nothing is lost, and nothing is said to be a bug."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import COMMAND, Project
from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = pytest.mark.process


@contextmanager
def full_disk() -> Iterator[int]:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@contextmanager
def reader_gone() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@contextmanager
def full_pipe() -> Iterator[int]:
    """A pipe that nothing reads, and whose writers do not wait."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        yield writer
    os.close(writer)
    os.close(reader)


@contextmanager
def dead_terminal() -> Iterator[int]:
    ours, theirs = pty.openpty()
    os.close(ours)
    yield theirs
    os.close(theirs)


@contextmanager
def read_only() -> Iterator[int]:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


LOST = [full_disk, reader_gone, dead_terminal, full_pipe, read_only]
"""Ways in which output is lost. `None` is a descriptor that is closed. In the corners of the grid the full pipe is that
of standard error, whose reader is waited for one second; that of standard output, ten."""


@pytest.mark.grid(6)
@pytest.mark.parametrize("lost", [None, *LOST])
@pytest.mark.parametrize("which", ["stdout", "stderr", "both"])
def test_a_run_is_asked_and_scored(project: Project, lost: Callable[..., object] | None, which: str) -> None:
    project.write_data()
    project.write_config()
    code = started(project, lost, which, "run", "eval.py", "--max-failures", "100%")
    assert code in ((0,) if which == "stderr" else (0, 3))
    assert list(project.folder().glob("results/fake/*.json"))
    assert '"status": "finished"' in (project.folder() / "run.json").read_text()


@pytest.mark.parametrize("lost", [None, *LOST])
@pytest.mark.parametrize("args", [("list",), ("--help",), ("check", "absent.py"), ("list", "--json")])
@pytest.mark.slow
@pytest.mark.grid(7)
def test_no_verb_ends_with_a_bug(project: Project, lost: Callable[..., object] | None, args: tuple[str, ...]) -> None:
    for which in ("stdout", "stderr", "both"):
        assert started(project, lost, which, *args) in (0, 2, 3)


def test_a_full_disk_is_named(project: Project) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "list"],
            cwd=project.root,
            env=project.variables(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert b"standard output cannot be written: No space left on device" in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(project: Project) -> None:
    command = " ".join([*COMMAND, "list", "2>&1", "|", "head", "-1", ";", "echo", "${PIPESTATUS[0]}"])
    done = subprocess.run(
        ["bash", "-c", command], cwd=project.root, env=project.variables(), capture_output=True, check=False
    )
    assert done.stdout.splitlines()[1:] == [b"0"]
    assert done.stderr == b""


def started(project: Project, lost: Callable[..., object] | None, which: str, *args: str) -> int:
    """Return the exit code of a command, one or both of whose streams are lost."""
    numbers = {"stdout": [1], "stderr": [2], "both": [1, 2]}[which]
    with lost() if lost else open(os.devnull) as descriptor:  # type: ignore[attr-defined]  # noqa: PTH123
        others: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        command = [*COMMAND, *args]
        if lost is None:
            command = ["bash", "-c", f'"$@" {" ".join(f"{number}>&-" for number in numbers)}', "bash", *command]
        else:
            others |= {{1: "stdout", 2: "stderr"}[number]: descriptor for number in numbers}
        variables = project.variables()
        done = subprocess.run(command, cwd=project.root, env=variables, timeout=WATCHDOG_SECONDS, check=False, **others)
    assert isinstance(done.returncode, int)
    return done.returncode
