"""Show progress on standard error: a live board in a terminal, a tqdm bar or now and then a line elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TextIO

from msgspec import Struct, field
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ais_prompt.engine.progress import Progress
from ais_prompt.report.tally import Tally, idle, summed_rates
from ais_prompt.types import Activity
from ais_prompt.utils.progress import Advance, in_notebook, shown_on, tracking
from ais_prompt.utils.text import printable

LOG_INTERVAL = 10.0
"""Seconds between two lines of a log."""
_NOTEBOOK_INTERVAL = 0.2
"""Seconds between two states of a bar in a notebook."""


class RunProgress:
    """Show the tasks of a run, several at a time.

    Args:
        stream: where to write.
        board: draws in a terminal; None for a file, a pipe or CI.
    """

    def __init__(self, stream: TextIO, board: Board | None) -> None:
        self._stream = stream
        self._board = board
        self._running: list[Tally] = []

    @contextmanager
    def task(self, name: str, total: int, done: int = 0, activity: Callable[[], Activity] = idle) -> Iterator[Progress]:
        """Show the progress of one task, and a last line with the outcome when it ends or is stopped.

        Args:
            name: ``model/dataset``.
            total: samples in all.
            done: samples finished in an earlier session; they do not count in the rates.
            activity: returns the state of requests between the model and its server.
        """
        tally = Tally(name, total, done, activity, self.note)
        try:
            show = self._board.show if self._board else _bar if in_notebook() else self._lines
            with show(tally):
                yield tally
        finally:
            self.note(tally.last_line())

    @contextmanager
    def _lines(self, tally: Tally) -> Iterator[None]:
        """Print a line at each interval, whether anything moves or not; of several tasks for the oldest one."""

        def write() -> None:
            oldest, *others = self._running
            if tally is oldest:
                tally.note(tally.line() + (f" · {len(others)} more under way" if others else ""))

        self._running = [*self._running, tally]  # lists are replaced: other threads read them
        try:
            with _repeated(LOG_INTERVAL, write):
                yield
        finally:
            self._running = [other for other in self._running if other is not tally]

    def note(self, text: str) -> None:
        """Print a line without disturbing what is drawn."""
        text = printable(text)
        if self._board:
            self._board.note(text)
        else:
            print(text, file=self._stream, flush=True)


@contextmanager
def run_progress(tasks: Sequence[str], stream: TextIO | None = None) -> Iterator[RunProgress]:
    """Show the progress of a run.

    Args:
        tasks: the names of its tasks, in order.
        stream: where to write; standard error if left out.
    """
    stream = stream or sys.stderr
    with ExitStack() as stack:
        yield RunProgress(stream, stack.enter_context(Board(tasks, stream)) if stream.isatty() else None)


@contextmanager
def _bar(tally: Tally) -> Iterator[None]:
    """Show a bar of tqdm."""
    shown = 0
    with tracking(tally.name, tally.total, "samples") as advance:

        def move() -> None:
            nonlocal shown
            if new := tally.done - shown:
                advance(new)
            shown += new

        with _repeated(_NOTEBOOK_INTERVAL, move):
            yield


@contextmanager
def _repeated(seconds: float, show: Callable[[], None]) -> Iterator[None]:
    """Call a function at each interval, in a thread, while the body runs."""
    over = threading.Event()

    def write() -> None:
        while not over.wait(seconds):
            show()

    writer = threading.Thread(target=write, name="progress", daemon=True)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


DELAY = 1.0
"""Seconds until the board is drawn: short work shows its last line only."""
_REFRESHES = 4
SHOWN = 3
"""Tasks under way that have a line of their own, the oldest ones."""


class _Work(Struct):
    """Work that is no task, such as scoring."""

    description: str
    total: int | None
    unit: str
    done: int = 0
    start: float = field(default_factory=time.monotonic)

    def advance(self, count: int) -> None:
        self.done += count

    def counts(self) -> str:
        total = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{total} {self.unit}"


class Board:
    """Draw the tasks of a run; each finished task leaves a line above the board.

    Args:
        tasks: the names of all tasks, in order.
        stream: a terminal.
    """

    def __init__(self, tasks: Sequence[str], stream: TextIO) -> None:
        self._tasks = list(tasks)
        self._number = len(tasks)
        self._over = 0
        self._running: list[Tally] = []
        self._work: list[_Work] = []
        self._open = ExitStack()
        self._console = Console(file=stream)
        # rich prints other lines of standard error, such as warnings, above the board.
        self._live = Live(
            console=self._console, get_renderable=self._render, refresh_per_second=_REFRESHES, transient=True
        )

    def __enter__(self) -> Board:
        self._live.start()
        self._open.enter_context(shown_on(self.track))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._live.stop()

    @contextmanager
    def show(self, tally: Tally) -> Iterator[None]:
        """Show one task while the body runs, beside others."""
        self._tasks = [name for name in self._tasks if name != tally.name]
        self._running = [*self._running, tally]  # lists are replaced: another thread draws them
        try:
            yield
        finally:
            self._running = [other for other in self._running if other is not tally]
            self._over += 1

    @contextmanager
    def track(self, description: str, total: int | None, unit: str) -> Iterator[Advance]:
        """Show work between the tasks, such as scoring; see `ais_prompt.utils.progress.tracking`."""
        work = _Work(description, total, unit)
        self._work.append(work)
        try:
            yield work.advance
        finally:
            self._work.remove(work)

    def note(self, text: str) -> None:
        """Print a line above the board."""
        self._console.print(Text(text), soft_wrap=True)

    def _render(self) -> RenderableType:
        if not self._running:
            long = (work for work in reversed(self._work) if time.monotonic() - work.start >= DELAY)
            return next((_line(work.description, work.done, work.total, work.counts()) for work in long), Text())
        running = [tally for tally in self._running if tally.elapsed >= DELAY]
        if not running:
            return Text()
        lines = (_line(tally.name, tally.done, tally.total, tally.counts()) for tally in running[:SHOWN])
        details = " · ".join(filter(None, (self._whole(len(running)), summed_rates(running), running[-1].left())))
        waits = dict.fromkeys(tally.doing() for tally in running)  # tasks of one server wait for the same
        texts = (Text(details, style="dim"), *(Text(wait, style="yellow") for wait in waits), self._next())
        return Group(*lines, *(text for text in texts if text))

    def _whole(self, running: int) -> str:
        """Return how far the run is: ``12 of 57 tasks done, 2 more under way``; empty for a run of one task."""
        if self._number == 1:
            return ""
        more = f", {running - SHOWN} more under way" if running > SHOWN else ""
        return f"{self._over} of {self._number} tasks done{more}"

    def _next(self) -> Text:
        if not self._tasks:
            return Text()
        number = f"{len(self._tasks)} task{'s' if len(self._tasks) > 1 else ''} to come: "
        return Text(number + ", ".join(self._tasks), style="dim", no_wrap=True, overflow="ellipsis")


def _line(name: str, done: int, total: int | None, counts: str) -> Table:
    line = Table.grid(padding=(0, 2, 0, 0), expand=True)
    line.add_column(overflow="ellipsis", no_wrap=True, ratio=2)
    line.add_column(ratio=1)
    line.add_column(justify="right", no_wrap=True)
    bar = ProgressBar(total=None if total is None else max(total, 1), completed=done, pulse=total is None)
    line.add_row(Text(name, style="bold"), bar, Text(counts))
    return line
