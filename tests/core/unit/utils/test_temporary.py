"""What killed processes left behind is removed, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.utils import remove_leftovers, temporary, temporary_file, temporary_folder

HOLDER = """
import sys, time
from pathlib import Path
from ais_prompt.utils.temporary import temporary_file, temporary_folder
target = Path(sys.argv[1])
with temporary_file(target), temporary_folder() as folder:
    (Path(folder) / "program.py").write_text("print()")
    print(*target.parent.glob(".*.tmp"), folder, flush=True)
    time.sleep(60)
"""
DAY = 86_400


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """As if nothing had been removed yet, with a ``TMPDIR`` of its own."""
    place = tmp_path / "TMPDIR"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    temporary._sweep.cache_clear()
    yield
    temporary._sweep.cache_clear()


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[Path]]]:
    """A process with a temporary file and folder."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "report.html")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process, [Path(name) for name in process.stdout.readline().split()]
        process.kill()


def work(target: Path) -> None:
    """What any later process does."""
    temporary._sweep.cache_clear()
    with temporary_file(target), temporary_folder():
        pass


@pytest.mark.process
def test_what_a_living_process_has_stays_and_what_a_killed_one_left_goes(
    holder: tuple[subprocess.Popen[str], list[Path]], tmp_path: Path
) -> None:
    process, paths = holder
    assert [path.name.split(".")[0] for path in paths] == ["", paths[1].name]
    work(tmp_path / "report.html")
    assert all(path.exists() for path in paths)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert all(path.exists() for path in paths)
    work(tmp_path / "report.html")
    assert not any(path.exists() for path in paths)


def test_what_another_machine_or_version_made_goes_when_it_is_a_day_old(tmp_path: Path) -> None:
    other, former = tmp_path / ".report.html.0badcafe-0a1b2c3d.tmp", tmp_path / ".report.html.4711.tmp"
    for path in (other, former):
        path.write_text("half")
    work(tmp_path / "report.html")
    assert other.exists()
    assert former.exists()
    for path in (other, former):
        os.utime(path, (time.time() - 2 * DAY,) * 2)
    work(tmp_path / "report.html")
    assert not other.exists()
    assert not former.exists()


def test_only_our_own_files_go(tmp_path: Path) -> None:
    mine = tmp_path / ".notes.tmp"
    neighbour = tmp_path / ".report.html.bak.tmp"
    link = tmp_path / ".report.html.link.tmp"
    for path in (mine, neighbour):
        path.write_text("of a person")
        os.utime(path, (time.time() - 2 * DAY,) * 2)
    link.symlink_to(mine)
    work(tmp_path / "report.html")
    remove_leftovers(tmp_path.glob(".*.tmp"))
    assert mine.exists()
    assert neighbour.exists()
    assert link.is_symlink()


def test_a_file_of_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / f".report.html.{temporary._this_machine()}-00000000.tmp"
    left.write_text("half")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    remove_leftovers([left])
    assert left.exists()
    monkeypatch.undo()
    remove_leftovers([left])
    assert not left.exists()


def test_a_file_is_renamed_or_removed(tmp_path: Path) -> None:
    target = tmp_path / "a[b]*.txt"
    with temporary_file(target) as descriptor:
        os.write(descriptor, b"whole")
        assert not target.exists()
    assert list(tmp_path.glob("*.txt")) == [target]
    with pytest.raises(RuntimeError), temporary_file(target):
        raise RuntimeError
    assert list(tmp_path.glob(".*")) == []
    assert target.read_text() == "whole"
