from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

import pytest

from ais_prompt.engine import Progress
from ais_prompt.report import EndpointView, RunTally, Tally, duration, progress_board, run_progress
from ais_prompt.terminal import tracked
from ais_prompt.types import Activity, Completion, Usage, Used
from tests.support.terminal import in_terminal, screen
from tests.support.waiting import STALL_SECONDS, wait_until

LAST_LINE = r"\[demo/addition\] {} · (<1|\d+) s"


def tally_of(sizes: dict[str, int | None], activity: Activity | None = None) -> RunTally:
    """The counts of a run whose model is at one address."""
    moment = activity or Activity()
    return RunTally(sizes, [EndpointView("127.0.0.1:8000", frozenset(["demo"]), lambda: moment)])


@contextmanager
def task_progress(
    name: str, total: int, stream: TextIO | None = None, done: int = 0, activity: Activity | None = None
) -> Iterator[Progress]:
    """The progress of a run with one task of so many samples; another one of 100 is still to come."""
    tally = tally_of({name: total, "demo/choice": 100}, activity)
    with run_progress(tally, stream) as progress, progress.task(name, total, done) as shown:
        yield shown


def test_short_work_leaves_one_line_in_a_log() -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", 3, stream=stream) as shown:
        shown.advance()
        shown.advance(failed=True)
        shown.advance()
    (line,) = stream.getvalue().splitlines()
    assert re.fullmatch(LAST_LINE.format("3/3 · 1 failed"), line)


@pytest.mark.thorough
def test_long_work_leaves_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_board, "LOG_INTERVAL", 0.2)
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
    left = r"(<1|\d+) s left"
    for line in between:
        assert re.fullmatch(rf"\[run\] 0 of 2 tasks done · \d+/120 \d+ % · 0 failed · {rates} · {left}", line), line
    assert re.fullmatch(rf"\[demo/addition\] 20/20 · {rates} · (<1|\d+) s", last)


def test_a_log_says_what_is_waited_for_while_nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_board, "LOG_INTERVAL", 0.05)
    stream = io.StringIO()
    with task_progress("demo/addition", 20, stream=stream, activity=Activity(0, 3, "http_429", 12.0)):
        wait_until(lambda: stream.getvalue(), "a line of the log")
    line = "[run] 0 of 2 tasks done · 0/120 0 % · 0 failed · 3 waiting (http_429, next try in 12 s)"
    assert line in stream.getvalue().splitlines()


def test_work_that_is_stopped_says_how_far_it_came() -> None:
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt), task_progress("demo/addition", 10, stream=stream) as shown:
        shown.advance()
        raise KeyboardInterrupt
    assert re.fullmatch(LAST_LINE.format("1/10").replace("(<", "stopped after (<"), stream.getvalue().strip())


def test_what_was_done_before_counts_but_has_no_part_in_the_rates() -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", 200, stream=stream, done=199) as shown:
        time.sleep(0.1)
        shown.answered(Completion("a"))
        shown.advance()
    rate = re.search(r"200/200 \(199 from before\) · ([\d.]+) requests/s", stream.getvalue())
    assert rate
    assert float(rate.group(1)) <= 10


@pytest.mark.parametrize(("total", "counts"), [(5, "5/5 (5 from before)"), (0, "0/0")])
def test_nothing_left_to_do(total: int, counts: str) -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", total, stream=stream, done=total) as shown:
        shown.resumed("[demo/addition] 5 of 5 samples are answered already, 0 will be asked")
    assert stream.getvalue() == f"[demo/addition] {counts} · <1 s\n"


def test_the_only_task_of_a_run_says_what_is_answered_already() -> None:
    stream = io.StringIO()
    with run_progress(tally_of({"demo": 5}), stream) as progress, progress.task("demo/addition", 5, 5) as shown:
        shown.resumed("[demo/addition] 5 of 5 samples are answered already, 0 will be asked")
    first, last = stream.getvalue().splitlines()
    assert first == "[demo/addition] 5 of 5 samples are answered already, 0 will be asked"
    assert last == "[demo/addition] 5/5 · <1 s"


def test_notes_are_lines_of_the_log() -> None:
    stream = io.StringIO()
    with task_progress("demo/addition", 1, stream=stream) as shown:
        shown.note("the server asks to wait 3 s")
        shown.advance()
    assert stream.getvalue().splitlines()[0] == "the server asks to wait 3 s"


def test_many_tasks_have_a_line_for_each_model_and_the_first_notes() -> None:
    stream = io.StringIO()
    names = [f"{model}/{number}" for model in ("org/small", "large") for number in range(30)]
    with run_progress(RunTally(dict.fromkeys(names, 2), has_many=True), stream) as shown:
        for name in names:
            with shown.task(name, 2) as task:
                task.note(f"[{name}] 1 of 2 prompts show fewer examples than retrieved")
                task.advance()
                task.advance(failed=name.startswith("large"))
    *notes, more, small, large = stream.getvalue().splitlines()
    assert notes == [f"[org/small/{number}] 1 of 2 prompts show fewer examples than retrieved" for number in range(3)]
    assert more == "and 57 more in logs/run.log: 1 of 2 prompts show fewer examples than retrieved"
    assert small == "[org/small] 30 tasks · 60/60 · <1 s"
    assert large == "[large] 30 tasks · 60/60 · 30 failed · <1 s"


def test_standard_error_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    with task_progress("demo/addition", 1) as shown:
        shown.advance()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "1/1 · " in captured.err


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [60, 80, 160])
def test_a_terminal_shows_a_board_that_gives_way_to_the_last_line(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_board, "DELAY", 0.0)
    monkeypatch.setenv("COLUMNS", str(columns))

    def work(stream: io.TextIOBase) -> None:
        activity = Activity(1, 2, "the server is away", 7.0)
        with task_progress("demo/addition", 30, stream=stream, activity=activity) as shown:  # type: ignore[arg-type]
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
    *_, last = (line for line in plain.replace("\r", "\n").splitlines() if "[demo/addition]" in line)
    assert "stopped" not in last


@pytest.mark.thorough
def test_the_board_shows_work_between_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_board, "DELAY", 0.0)

    def work(stream: io.TextIOBase) -> None:
        with run_progress(tally_of({"demo/addition": 3}), stream):  # type: ignore[arg-type]
            for _ in tracked(range(20), "scoring demo/addition", unit="samples"):
                time.sleep(0.03)
            for _ in tracked((number for number in range(10)), "reading", unit="rows"):
                time.sleep(0.05)

    received = in_terminal(work)
    assert re.search(r"scoring demo/addition .*━.* \d+ of 20 samples", received)
    assert re.search(r"reading .* \d rows", received)
    assert screen(received) == []


@pytest.mark.thorough
def test_a_notebook_shows_a_bar_for_each_task(monkeypatch: pytest.MonkeyPatch, notebook: None) -> None:
    monkeypatch.setattr("ais_prompt.terminal.progress.DELAY", 0.0)
    monkeypatch.setattr(sys, "stderr", cell := io.StringIO())
    with task_progress("demo/addition", 5, stream=cell, done=2) as shown:
        shown.advance()
        while "3/5" not in cell.getvalue():
            time.sleep(0.01)
    assert "demo/addition:  60%|" in cell.getvalue()
    ending = LAST_LINE.format("3/5").replace("· (<", r"\(2 from before\) · stopped after (<")
    assert re.fullmatch(ending, screen(cell.getvalue())[-1])


def test_short_work_draws_no_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_board, "DELAY", STALL_SECONDS)

    def work(stream: io.TextIOBase) -> None:
        with task_progress("demo/addition", 2, stream=stream) as shown:  # type: ignore[arg-type]
            shown.advance()
            shown.advance()

    received = in_terminal(work)
    assert "|" not in received
    (line,) = screen(received)
    assert re.fullmatch(LAST_LINE.format("2/2"), line)


def test_a_note_in_short_work_leaves_no_bar_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_board, "DELAY", STALL_SECONDS)

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
    run = RunTally({"m/d": 10}, [EndpointView("m", frozenset(["m"]), lambda: moment)])
    tally = Tally("m/d", 10)
    run.begin(tally)
    assert run.left() == ""
    tally.advance()
    assert run.left() == "10 min 0 s left"
    assert run.doing() == ["3 waiting (http_429, next try in 10 min 0 s)"]
    moment = Activity(in_flight=1, waiting=3, reason="http_429", seconds=600)
    assert run.left() == "<1 s left"


def test_the_time_left_does_not_rise_while_a_batch_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(10_000))
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    run = RunTally({"slow/data": 80}, [EndpointView("a", frozenset({"slow"}))])
    tally = Tally("slow/data", 80)
    run.begin(tally)
    shown: list[str] = []
    for _ in range(3):
        for _ in range(10):  # a batch of 16 takes 10 s
            now = float(next(seconds)) + 1
            shown.append(run.left())
        for _ in range(16):
            tally.advance()
    assert shown[:10] == [""] * 10
    assert shown[10:] == [f"{left} s left" for left in range(39, 19, -1)]
    now += 500  # a batch that takes longer than all others: the time left stays
    assert run.left() == "10 s left"


def test_the_time_left_is_that_of_the_slowest_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    sizes = {"fast/a": 100, "fast/b": 100, "slow/a": 100, "slow/b": 100}
    run = RunTally(sizes, [EndpointView(name, frozenset([name])) for name in ("fast", "slow")])
    fast, slow = Tally("fast/a", 100, 20), Tally("slow/a", 100)
    run.begin(fast)
    run.begin(slow)
    clock[0] += 10
    for _ in range(80):
        fast.advance()
    for _ in range(10):
        slow.advance()
    assert run.samples() == (110, 400)
    assert run.left() == "3 min 10 s left"  # 190 samples of the slow one, one a second
    run.end(fast)
    run.skip("slow/b")
    assert run.head() == "2 of 4 tasks done"
    assert run.samples() == (110, 300)
    assert run.left() == "1 min 30 s left"
    run.end(slow)  # it was stopped
    assert run.samples() == (110, 210)
    assert run.to_come == ["fast/b"]


def test_a_run_of_several_endpoints_says_what_each_is_doing() -> None:
    moments = {
        "a": Activity(in_flight=62, waiting=2, reason="http_429", seconds=3),
        "b": Activity(waiting=64, reason="the server is away", seconds=8, away=(("", 125.0),)),
        "c": Activity(in_flight=4, away=(("http://c2/v1", 4.0),)),
        "d": Activity(),
    }
    views = [EndpointView(name, frozenset([name]), lambda name=name: moments[name]) for name in moments]  # type: ignore[misc]
    used = Used(10, 100, 50, {"USD": 0.431})
    run = RunTally({f"{name}/x": 1000 for name in moments}, views, lambda: used, lambda: "a/y · 2 more to score")
    for name in moments:
        run.begin(Tally(f"{name}/x", 1000))
    assert run.doing() == [
        "a: 62 asking · 2 waiting (http_429, next try in 3 s)",
        "b: 64 waiting (the server is away, next try in 8 s) · down for 2 min 5 s",
        "c: 4 asking · http://c2/v1 down for 4 s",
    ]
    assert run.line() == (
        "[run] 0 of 4 tasks done · 0/4,000 0 % · 0 failed · 0.43 USD · "
        + " · ".join(run.doing())
        + " · scoring a/y · 2 more to score"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [80, 120])
def test_the_board_of_a_large_run_fits_into_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_board, "DELAY", 0.0)
    monkeypatch.setenv("COLUMNS", str(columns))
    names = [f"a-model-with-a-long-name/a_dataset_with_a_long_name_{number}" for number in range(40)]
    endpoint = EndpointView("a-host.example.com:8000", frozenset(["a-model-with-a-long-name"]), lambda: Activity(64))
    other = EndpointView("another-host.example.com:8000", frozenset(["other"]), Activity)
    run = RunTally(
        dict.fromkeys(names, 1000), [endpoint, other], lambda: Used(1, 1, 1, {"USD": 12.3}), lambda: names[0]
    )

    def work(stream: io.TextIOBase) -> None:
        with run_progress(run, stream) as shown, ExitStack() as tasks:  # type: ignore[arg-type]
            for name in names[:5]:
                tally = tasks.enter_context(shown.task(name, 1000))
                tally.advance()
                tally.answered(Completion("a b c", usage=Usage(5, 3)))
            time.sleep(0.7)

    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", in_terminal(work, columns))
    for text in (
        "0 of 40 tasks done",
        "5/40,000 0 % · 0 failed",
        "12.30 USD",
        "64 asking",
        "2 more tasks under way",
        "35 tasks",
    ):
        assert text in plain
    assert "scoring a-model-with" in plain
    drawn = [part for part in re.split(r"[\r\n]", plain) if not part.startswith("[")]  # last lines are not cut
    assert max(map(len, drawn)) <= columns
