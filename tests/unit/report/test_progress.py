from __future__ import annotations

import io
import os
import pty
import re
import termios
import threading
import time
from collections.abc import Callable

import pytest

from ais_prompt.report import progress
from ais_prompt.report.progress import task_progress

LAST_LINE = r"\[demo/addition\] {} · {} failed( · [\d.]+/s)? · {} (<1|\d+) s"


def in_terminal(work: Callable[[io.TextIOBase], None]) -> str:
    """What a terminal of 80 columns receives while ``work`` writes to it."""
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    received: list[bytes] = []

    def read() -> None:
        # Linux answers EIO when the other side is closed.
        try:
            while chunk := os.read(controller, 4096):
                received.append(chunk)
        except OSError:
            pass

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(terminal, "w", encoding="utf-8") as stream:
        work(stream)
    reader.join(timeout=10)
    os.close(controller)
    return b"".join(received).decode()


def screen(received: str) -> list[str]:
    """The lines that stay on the screen: a carriage return lets the next text overwrite."""
    lines = []
    for line in received.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return [line for line in lines if line]


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
    with task_progress("demo/addition", 20, stream=stream) as shown:
        for _ in range(20):
            time.sleep(0.03)
            shown.advance()
    *between, last = stream.getvalue().splitlines()
    assert 1 <= len(between) <= 3
    for line in between:
        assert re.fullmatch(r"\[demo/addition\] \d+/20 \d+ % · 0 failed · \d+/s · (<1|\d+) s left", line)
    assert re.fullmatch(LAST_LINE.format("20/20 100 %", 0, "in"), last)


def test_work_that_is_stopped_says_how_far_it_came() -> None:
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt), task_progress("demo/addition", 10, stream=stream) as shown:
        shown.advance()
        raise KeyboardInterrupt
    assert re.fullmatch(LAST_LINE.format("1/10 10 %", 0, "stopped after"), stream.getvalue().strip())


def test_what_was_done_before_counts_but_has_no_part_in_the_rate() -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", 200, done=199, stream=stream) as shown:
        time.sleep(0.1)
        shown.advance()
    line = stream.getvalue()
    rate = re.search(r"200/200 100 % · 0 failed · ([\d.]+)/s", line)
    assert rate
    assert float(rate.group(1)) <= 10


@pytest.mark.parametrize(("total", "done"), [(5, 5), (0, 0)])
def test_nothing_left_to_do(total: int, done: int) -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", total, done=done, stream=stream):
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


def test_a_terminal_shows_a_bar_that_gives_way_to_the_last_line() -> None:
    def work(stream: io.TextIOBase) -> None:
        with task_progress("demo/addition", 30, stream=stream) as shown:  # type: ignore[arg-type]
            for number in range(30):
                time.sleep(0.05)
                shown.advance(failed=number == 3)
                if number == 25:
                    shown.note("a note")

    received = in_terminal(work)
    bars = re.findall(r"demo/addition:\s+\d+%\|[^\r]*?\| (\d+)/30 \[[^\r]*1 failed\]", received)
    assert bars
    assert max(len(part) for part in received.split("\r")) <= 82
    note, last = screen(received)
    assert note == "a note"
    assert re.fullmatch(LAST_LINE.format("30/30 100 %", 1, "in"), last)


def test_short_work_draws_no_bar_in_a_terminal() -> None:
    def work(stream: io.TextIOBase) -> None:
        with task_progress("demo/addition", 2, stream=stream) as shown:  # type: ignore[arg-type]
            shown.advance()
            shown.advance()

    received = in_terminal(work)
    assert "|" not in received
    (line,) = screen(received)
    assert re.fullmatch(LAST_LINE.format("2/2 100 %", 0, "in"), line)


def test_a_note_in_short_work_leaves_no_bar_behind() -> None:
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
    assert progress._duration(seconds) == text
