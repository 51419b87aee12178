"""How the progress of long work is shown: as a bar, as lines of a log, on a board, or not at all."""

from __future__ import annotations

import io
import logging
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ais_prompt.terminal import Advance, Facts, close_bars, logging_to, progress, shown_on, tracked, tracking
from tests.support.terminal import in_terminal, screen

INTERRUPTED = """
import sys, time
from ais_prompt.cli.verb import Verb
from ais_prompt.terminal import progress

progress.DELAY = 0.0

def work():
    for number in progress.tracked(range(10**9), "reading train.jsonl"):
        time.sleep(0.001)

Verb("work", callback=work).main([])
"""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "LOG_INTERVAL", 0.0)


def count_in_terminal(monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> str:
    """What a terminal receives while 50 samples are counted, with a note of the log in between."""

    def work(stream: io.TextIOBase) -> None:
        monkeypatch.setattr(sys, "stderr", stream)
        for number in tracked(range(50), "scoring demo/\x1baddition", unit="samples"):
            if number == 30:
                logging.getLogger("ais_prompt.test").warning("a note")

    return in_terminal(work, columns)


@pytest.mark.process
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("columns", [0, 40, 80, 200])
def test_a_bar_in_a_terminal_leaves_nothing_behind(
    columns: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with logging_to(tmp_path / "run.log"):
        received = count_in_terminal(monkeypatch, columns)
    assert r"scoring demo/\x1baddition:" in received
    assert screen(received) == ["WARNING: a note"]
    assert max(len(part) for part in re.split(r"[\r\n]", received)) <= (columns or 80)


@pytest.mark.process
def test_short_work_shows_nothing_and_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_tqdm", lambda _: pytest.fail("a bar was made"))
    assert count_in_terminal(monkeypatch) == ""


def test_a_pipe_gets_nothing_from_work_of_a_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(tracked("abc", "reading")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("at_once")
def test_a_log_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with tracking("reading train.jsonl", 4_000_000, "B") as advance:
        for _ in range(4):
            advance(1_000_000)
    lines = [f"reading train.jsonl:  {share}% {count}.00M/4.00M" for share, count in ((25, 1), (50, 2), (75, 3))]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "\r" not in captured.err
    assert [line.partition(" [")[0] for line in captured.err.splitlines()][:3] == lines


@pytest.mark.usefixtures("at_once")
def test_work_of_unknown_length(capsys: pytest.CaptureFixture[str]) -> None:
    assert sum(tracked((number for number in range(9)), "counting", unit="samples")) == 36
    assert "counting: 9 samples [00:00" in capsys.readouterr().err


@pytest.mark.usefixtures("at_once", "notebook")
def test_a_notebook_shows_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stderr", cell := io.StringIO())
    assert list(tracked(range(3), "embedding texts", unit="texts")) == [0, 1, 2]
    assert re.search(r"embedding texts: +33%\|.*\| 1/3", cell.getvalue())
    assert screen(cell.getvalue()) == []
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("at_once")
def test_a_display_that_owns_the_terminal_shows_all_work(capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[object] = []

    @contextmanager
    def display(description: str, total: int | None, unit: str, facts: Facts | None = None) -> Iterator[Advance]:
        shown.append((description, total, unit))
        yield shown.append

    with shown_on(display):
        assert list(tracked("ab", "scoring", unit="samples")) == ["a", "b"]
    assert shown == [("scoring", 2, "samples"), 1, 1]
    list(tracked("ab", "not shown there"))
    assert len(shown) == 3
    assert "scoring" not in capsys.readouterr().err


@pytest.mark.usefixtures("at_once")
def test_a_loop_that_fails_leaves_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(stream: io.TextIOBase) -> None:
        monkeypatch.setattr(sys, "stderr", stream)
        kept = tracked(range(9), "reading")  # as a traceback keeps it
        with pytest.raises(ValueError, match="3"):
            for number in kept:
                if number == 3:
                    raise ValueError(number)
        close_bars()
        print("the error", file=stream)

    received = in_terminal(work)
    assert "reading:" in received
    assert screen(received) == ["the error"]


@pytest.mark.process
def test_control_c_leaves_a_clean_terminal() -> None:
    pid, terminal = pty.fork()
    if not pid:
        os.execv(sys.executable, [sys.executable, "-c", INTERRUPTED])
    received = b""
    while b"reading train.jsonl" not in received:
        received += os.read(terminal, 4096)
    os.kill(pid, signal.SIGINT)
    try:
        while chunk := os.read(terminal, 4096):
            received += chunk
    except OSError:  # Linux answers EIO when the other side is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    os.close(terminal)
    first, *rest = screen(received.decode())
    assert first.startswith("Interrupted:")
    assert not [line for line in rest if "reading" in line]


@pytest.mark.process
def test_an_environment_variable_turns_bars_off() -> None:
    module = "from ais_prompt.terminal import progress"
    code = f"{module}; progress.LOG_INTERVAL = 0.0; list(progress.tracked('ab', 'reading'))"
    for disable, shown in (("", True), ("1", False)):
        environment = {**os.environ, "TQDM_DISABLE": disable}
        ended = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        assert ("reading" in ended.stderr) is shown


@pytest.mark.process
def test_neither_the_start_method_nor_a_thread_is_left_by_a_bar() -> None:
    code = """
import multiprocessing, threading
from ais_prompt.terminal import progress
progress.LOG_INTERVAL = 0.0
list(progress.tracked("ab", "reading"))
multiprocessing.set_start_method("spawn")
assert threading.active_count() == 1
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "reading" in ended.stderr


@pytest.mark.usefixtures("at_once")
def test_facts_take_the_place_of_the_count_in_a_log(capfd: pytest.CaptureFixture[str]) -> None:
    done = 0
    with tracking("m/d", 3, "requests", lambda: f"{done} answered · {3 - done} in flight") as advance:
        for _ in range(3):
            done += 1
            advance(1)
    assert re.search(r"3 answered · 0 in flight · m/d \[\d+:\d+\]", capfd.readouterr().err)
