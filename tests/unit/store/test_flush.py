"""Flushing beside the thread that writes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ais_prompt.store import flush
from ais_prompt.store.flush import BackgroundFlush


def test_a_slow_disk_holds_up_nothing_but_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    flushes: list[int] = []

    def slow(descriptor: int) -> None:
        flushes.append(descriptor)
        assert released.wait(60)

    monkeypatch.setattr(flush, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", slow)
    with (tmp_path / "file").open("wb") as file:
        background = BackgroundFlush(tmp_path / "file", file.fileno())
        for _ in range(3):  # each would wait for the disk if it was not done beside
            background.at_times()
        released.set()
        background.finish()
    assert len(flushes) == 2


def test_a_flush_that_failed_is_told_by_the_next_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(5, f"no disk for {descriptor}")

    monkeypatch.setattr(flush, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", broken)
    with (tmp_path / "file").open("wb") as file:
        background = BackgroundFlush(tmp_path / "file", file.fileno())
        background.at_times()
        with pytest.raises(OSError, match="no disk"):
            background.finish()
        with pytest.raises(OSError, match="no disk"):
            background.at_times()


def test_nothing_is_flushed_more_often_than_at_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushes: list[int] = []
    monkeypatch.setattr(flush, "FLUSH_SECONDS", 3600.0)
    monkeypatch.setattr(os, "fsync", flushes.append)
    with (tmp_path / "file").open("wb") as file:
        background = BackgroundFlush(tmp_path / "file", file.fileno())
        for _ in range(1000):
            background.at_times()
        background.finish()
    assert len(flushes) == 1


def test_what_an_earlier_process_wrote_is_flushed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushes: list[int] = []
    monkeypatch.setattr(os, "fsync", flushes.append)
    (tmp_path / "file").write_text("answers of a process that was killed")
    with (tmp_path / "file").open("ab") as file:
        background = BackgroundFlush(tmp_path / "file", file.fileno())
        background.finish()
    assert len(flushes) == 1
