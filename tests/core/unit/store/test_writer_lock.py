from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ais_prompt
from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.store import RunFolder, hold_writer_lock

HOLDS = """
import sys
from pathlib import Path
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.layout import hold_writer_lock

with hold_writer_lock(RunFolder(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder until its standard input is closed."""
    command = [sys.executable, "-c", HOLDS, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


@pytest.mark.process
def test_one_writer_at_a_time(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with held_by_another(tmp_path) as other:
        with pytest.raises(StoreError, match=f"PID {other.pid} ") as caught, hold_writer_lock(folder):
            pass
        assert caught.value.where == str(tmp_path)
    assert other.returncode == 0
    with hold_writer_lock(folder):
        assert folder.writer_lock_file.with_name(".lock.holder").read_text() == f"{os.getpid()}\n"


@pytest.mark.process
def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    with held_by_another(tmp_path) as other:
        other.kill()
    with hold_writer_lock(RunFolder(tmp_path)):
        pass


def test_a_fault_frees_the_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(ZeroDivisionError), hold_writer_lock(folder):
        raise ZeroDivisionError
    with hold_writer_lock(folder):
        pass


def test_a_missing_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="cannot be written: No such file"),
        hold_writer_lock(RunFolder(tmp_path / "none")),
    ):
        pass


@pytest.mark.process
def test_neither_the_holder_nor_its_name_is_lost_to_one_that_tries(tmp_path: Path) -> None:
    with held_by_another(tmp_path) as other:
        for _ in range(2):
            with pytest.raises(StoreError, match=f"PID {other.pid} "), hold_writer_lock(RunFolder(tmp_path)):
                pass


def test_one_process_cannot_take_a_folder_twice(tmp_path: Path) -> None:
    with hold_writer_lock(RunFolder(tmp_path)), pytest.raises(StoreError, match=f"PID {os.getpid()} "):  # noqa: SIM117
        with hold_writer_lock(RunFolder(tmp_path)):
            pass


def test_no_module_needs_what_windows_lacks() -> None:
    package = Path(ais_prompt.__file__).parent
    users = [file.name for file in package.rglob("*.py") if re.search(r"^import fcntl", file.read_text("utf-8"), re.M)]
    assert users == []
