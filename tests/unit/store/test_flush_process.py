"""Flushing many files in another process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ais_prompt.store.flush import MANY, BackgroundFlush, FlushProcess

pytestmark = pytest.mark.process


class Written:
    """Files that were written, and those of them that this process has flushed."""

    def __init__(self, folder: Path, opened: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files = []
        self.flushed_here: list[int] = []
        monkeypatch.setattr(os, "fsync", self.flushed_here.append)
        for number in range(MANY):
            path = folder / f"{number}.jsonl"
            self.files.append(BackgroundFlush(path, opened.enter_context(path.open("wb")).fileno()))

    @property
    def due(self) -> int:
        return sum(file.is_due for file in self.files)

    def finish(self) -> int:
        """Finish all of them, and return how many are flushed here."""
        for file in self.files:
            file.finish()
        assert not self.due
        return len(self.flushed_here)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    with ExitStack() as opened:
        yield Written(tmp_path, opened, monkeypatch)


@pytest.fixture
def process() -> Iterator[FlushProcess]:
    process = FlushProcess()
    yield process
    process.stop()


def test_many_files_are_flushed_in_another_process_once_it_is_started(written: Written, process: FlushProcess) -> None:
    process.flush(written.files)
    assert written.due == MANY
    process.flush(written.files)
    assert written.due == 0
    assert written.finish() == 0


def test_few_files_are_flushed_here(written: Written, process: FlushProcess) -> None:
    process.flush(written.files)
    process.flush(written.files[1:])
    assert written.finish() == MANY


def test_a_path_means_the_same_in_the_other_process(written: Written, process: FlushProcess) -> None:
    process.flush(written.files)
    for file in written.files:
        file.path = Path(os.path.relpath(file.path))
    process.flush(written.files)
    assert written.finish() == 0


def test_what_the_other_process_cannot_flush_is_flushed_here(written: Written, process: FlushProcess) -> None:
    process.flush(written.files)
    written.files[3].path.unlink()
    process.flush(written.files)
    assert written.finish() == 1


def test_all_is_flushed_here_if_the_other_process_was_killed(written: Written, process: FlushProcess) -> None:
    process.flush(written.files)
    assert process._worker is not None
    process._worker.stop()
    process.flush(written.files)
    assert written.finish() == MANY


def test_no_process_is_started_after_the_end(written: Written, process: FlushProcess) -> None:
    process.stop()
    process.flush(written.files)
    assert process._worker is None
    assert written.finish() == MANY


def test_all_is_flushed_here_if_no_process_can_be_started(
    written: Written, process: FlushProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    for _ in range(2):
        process.flush(written.files)
    assert written.finish() == MANY
