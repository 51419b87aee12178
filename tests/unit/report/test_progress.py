from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import pytest

from ais_prompt.engine.progress import Progress
from ais_prompt.report import progress
from ais_prompt.report.progress import run_progress
from ais_prompt.report.tally import Tally, duration
from ais_prompt.types import Activity, Completion, Usage
from ais_prompt.utils.progress import tracked
from tests.terminal import in_terminal, screen
from tests.waiting import STALL_SECONDS, wait_until

LAST_LINE = r"\[demo/addition\] {} · {} failed · {} (<1|\d+) s"


@contextmanager
def task_progress(name: str, total: int, stream: TextIO | None = None, **options: Any) -> Iterator[Progress]:
    """The progress of a run with one task, another one being still to come."""
    with run_progress([name, "demo/choice"], stream) as progress, progress.task(name, total, **options) as shown:
        yield shown


def test_short_work_leaves_one_line_in_a_log() -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", 3, stream=stream) as shown:
        shown.advance()
        shown.advance(failed=True)
        shown.advance()
    (line,) = stream.getvalue().splitlines()
    assert re.fullmatch(LAST_LINE.format("3/3 100 %", 1, "in"), line)


def test_long_work_leaves_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LOG_INTERVAL", 0.2)
    stream = io.StringIO()
    started = time.monotonic()
    with task_progress("demo/addition", 20, stream=stream) as shown:
        for _ in range(20):
            shown.answered(Completion("a b c", usage=Usage(5, 3)))
            shown.advance()
            wait_until(lambda: stream.getvalue(), "a line of the log")
    *between, last = stream.getvalue().splitlines()
    assert 1 <= len(between) <= (time.monotonic() - started) / 0.2
    rates = r"[\d.]+ requests/s · [\d.]+ tokens/s"
    for line in between:
        assert re.fullmatch(rf"\[demo/addition\] \d+/20 \d+ % · 0 failed · {rates} · (<1|\d+) s left", line)
    assert re.fullmatch(rf"\[demo/addition\] 20/20 100 % · 0 failed · {rates} · in (<1|\d+) s", last)


def test_a_log_says_what_is_waited_for_while_nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LOG_INTERVAL", 0.05)
    stream = io.StringIO()
    with task_progress("demo/addition", 20, stream=stream, activity=lambda: Activity(0, 3, "http_429", 12.0)):
        wait_until(lambda: stream.getvalue(), "a line of the log")
    line = "[demo/addition] 0/20 0 % · 0 failed · 3 waiting (http_429, next try in 12 s)"
    assert line in stream.getvalue().splitlines()


def test_work_that_is_stopped_says_how_far_it_came() -> None:
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt), task_progress("demo/addition", 10, stream=stream) as shown:
        shown.advance()
        raise KeyboardInterrupt
    assert re.fullmatch(LAST_LINE.format("1/10 10 %", 0, "stopped after"), stream.getvalue().strip())


def test_what_was_done_before_counts_but_has_no_part_in_the_rates() -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", 200, stream=stream, done=199) as shown:
        time.sleep(0.1)
        shown.answered(Completion("a"))
        shown.advance()
    rate = re.search(r"200/200 100 % · 0 failed · ([\d.]+) requests/s", stream.getvalue())
    assert rate
    assert float(rate.group(1)) <= 10


@pytest.mark.parametrize(("total", "done"), [(5, 5), (0, 0)])
def test_nothing_left_to_do(total: int, done: int) -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", total, stream=stream, done=done):
        pass
    assert stream.getvalue() == f"[demo/addition] {total}/{total} 100 % · 0 failed · in <1 s\n"


def test_notes_are_lines_of_the_log() -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", 1, stream=stream) as shown:
        shown.note("the server asks to wait 3 s")
        shown.advance()
    assert stream.getvalue().splitlines()[0] == "the server asks to wait 3 s"


def test_standard_error_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    with task_progress("demo/addition", 1) as shown:
        shown.advance()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1/1 100 %" in captured.err


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_a_terminal_shows_a_board_that_gives_way_to_the_last_line(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setenv("COLUMNS", str(columns))

    def work(stream: io.TextIOBase) -> None:
        activity = Activity(1, 2, "the server is away", 7.0)
        with task_progress("demo/addition", 30, stream=stream, activity=lambda: activity) as shown:  # type: ignore[arg-type]
            for number in range(30):
                time.sleep(0.03)
                shown.advance(failed=number == 3)
                if number == 25:
                    shown.note("a note")

    received = in_terminal(work, columns)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", received)
    assert "━" in plain
    assert "1 failed" in plain
    assert "2 waiting (the server is away" in plain
    assert "1 task to come: demo/choice" in plain
    assert max(len(part) for part in re.split(r"[\r\n]", plain)) <= columns
    *_, last = (line for line in plain.replace("\r", "\n").splitlines() if "100 %" in line)
    assert "stopped" not in last


def test_the_board_shows_work_between_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)

    def work(stream: io.TextIOBase) -> None:
        with run_progress(["demo/addition"], stream):  # type: ignore[arg-type]
            for _ in tracked(range(20), "scoring demo/addition", unit="samples"):
                time.sleep(0.03)
            for _ in tracked((number for number in range(10)), "reading", unit="rows"):
                time.sleep(0.05)

    received = in_terminal(work)
    assert re.search(r"scoring demo/addition .*━.* \d+ of 20 samples", received)
    assert re.search(r"reading .* \d rows", received)
    assert screen(received) == []


def test_a_notebook_shows_a_bar_for_each_task(monkeypatch: pytest.MonkeyPatch, notebook: None) -> None:
    monkeypatch.setattr("ais_prompt.utils.progress.DELAY", 0.0)
    monkeypatch.setattr(sys, "stderr", cell := io.StringIO())
    with task_progress("demo/addition", 5, stream=cell, done=2) as shown:
        shown.advance()
        while "3/5" not in cell.getvalue():
            time.sleep(0.01)
    assert "demo/addition:  60%|" in cell.getvalue()
    assert re.fullmatch(LAST_LINE.format("3/5 60 %", 0, "stopped after"), screen(cell.getvalue())[-1])


def test_short_work_draws_no_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", STALL_SECONDS)

    def work(stream: io.TextIOBase) -> None:
        with task_progress("demo/addition", 2, stream=stream) as shown:  # type: ignore[arg-type]
            shown.advance()
            shown.advance()

    received = in_terminal(work)
    assert "|" not in received
    (line,) = screen(received)
    assert re.fullmatch(LAST_LINE.format("2/2 100 %", 0, "in"), line)


def test_a_note_in_short_work_leaves_no_bar_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", STALL_SECONDS)

    def work(stream: io.TextIOBase) -> None:
        with task_progress("demo/addition", 2, stream=stream) as shown:  # type: ignore[arg-type]
            shown.note("a note")
            shown.advance()
            shown.advance()

    note, last = screen(in_terminal(work))
    assert note == "a note"
    assert last.startswith("[demo/addition] 2/2")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "<1 s"), (3.2, "3 s"), (59.7, "1 min 0 s"), (125, "2 min 5 s"), (3720, "1 h 2 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_time_left_is_not_less_than_is_waited_for() -> None:
    moment = Activity(in_flight=0, waiting=3, reason="http_429", seconds=600)
    tally = Tally("m/d", 10, activity=lambda: moment)
    tally.advance()
    assert tally.left() == "10 min 0 s left"
    assert "next try in 10 min 0 s" in tally.doing()
    moment = Activity(in_flight=1, waiting=3, reason="http_429", seconds=600)
    assert tally.left() == "<1 s left"
