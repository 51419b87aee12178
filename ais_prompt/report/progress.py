"""Show progress on standard error: a live board in a terminal, a tqdm bar or now and then a line elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TextIO

from msgspec import Struct, field
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ais_prompt.engine.progress import Progress
from ais_prompt.report.run_tally import RunTally
from ais_prompt.report.tally import Tally
from ais_prompt.utils.progress import Advance, in_notebook, shown_on, tracking
from ais_prompt.utils.text import printable
from ais_prompt.utils.verbosity import is_quiet

LOG_INTERVAL = 10.0
"""Seconds between two lines of a log."""
_NOTEBOOK_INTERVAL = 0.2
"""Seconds between two states of a bar in a notebook."""


class RunProgress:
    """Show a run, several tasks at a time.

    Args:
        stream: where to write.
        tally: the counts of the run.
        board: draws in a terminal; None for a file, a pipe or CI.
    """

    def __init__(self, stream: TextIO, tally: RunTally, board: Board | None) -> None:
        self._stream = stream
        self._tally = tally
        self._board = board

    @contextmanager
    def task(self, name: str, total: int, done: int = 0) -> Iterator[Progress]:
        """Show the progress of one task, and a last line with the outcome when it ends or is stopped.

        Args:
            name: ``model/dataset``.
            total: samples in all.
            done: samples finished in an earlier session; they do not count in the rates.
        """
        tally = Tally(name, total, done, self.note)
        self._tally.begin(tally)
        try:
            with _bar(tally) if self._board is None and in_notebook() else nullcontext():
                yield tally
        finally:
            self._tally.end(tally)
            self.note(tally.last_line())

    def skip(self, name: str) -> None:
        """Leave out a task that cannot begin."""
        self._tally.skip(name)

    def note(self, text: str) -> None:
        """Print a line without disturbing what is drawn."""
        text = printable(text)
        if self._board:
            self._board.note(text)
        else:
            self._stream.write(f"{text}\n")
            self._stream.flush()


@contextmanager
def run_progress(tally: RunTally, stream: TextIO | None = None) -> Iterator[RunProgress]:
    """Show the progress of a run.

    Args:
        tally: its counts.
        stream: where to write; standard error if left out.
    """
    if is_quiet():
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            yield RunProgress(nowhere, tally, None)
        return
    stream = stream or sys.stderr
    if stream.isatty():
        with Board(tally, stream) as board:
            yield RunProgress(stream, tally, board)
        return
    progress = RunProgress(stream, tally, None)

    def write() -> None:
        if tally.running:
            progress.note(tally.line())

    with nullcontext() if in_notebook() else _repeated(LOG_INTERVAL, write):
        yield progress


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
    """Draw a run; each finished task leaves a line above the board.

    Args:
        tally: the counts of the run.
        stream: a terminal.
    """

    def __init__(self, tally: RunTally, stream: TextIO) -> None:
        self._tally = tally
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
    def track(self, description: str, total: int | None, unit: str) -> Iterator[Advance]:
        """Show work beside the tasks, such as scoring; see `ais_prompt.utils.progress.tracking`."""
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
        run = self._tally
        long = (work for work in reversed(self._work) if time.monotonic() - work.start >= DELAY)
        work = next((_line(work.description, work.done, work.total, work.counts()) for work in long), None)
        if not run.running:
            return work or Text()
        running = [tally for tally in run.running if tally.elapsed >= DELAY]
        if not (running or run.over):
            return Text()
        tasks = [_line(tally.name, tally.done, tally.total, tally.counts()) for tally in running[:SHOWN]]
        if run.tasks > 1:
            tasks.insert(0, _line(run.head(), *run.samples(), run.counts()))
        if work is not None:
            tasks.append(work)
        more = len(run.running) - len(running[:SHOWN])
        scoring = run.scoring()
        lines = [
            (run.speed(), "dim"),
            *((doing, "yellow" if "waiting" in doing or "down" in doing else "dim") for doing in run.doing()),
            (f"scoring {scoring}" if scoring else "", "dim"),
            (f"{more} more task{'s' * (more > 1)} under way" if more else "", "dim"),
            (self._next(), "dim"),
        ]
        return Group(*tasks, *(Text(text, style, no_wrap=True, overflow="ellipsis") for text, style in lines if text))

    def _next(self) -> str:
        names = self._tally.to_come
        return f"{len(names)} task{'s' * (len(names) > 1)} to come: {', '.join(names[:SHOWN])}" if names else ""


def _line(name: str, done: int, total: int | None, counts: str) -> Table:
    line = Table.grid(padding=(0, 2, 0, 0), expand=True)
    line.add_column(overflow="ellipsis", no_wrap=True, ratio=2)
    line.add_column(ratio=1)
    line.add_column(justify="right", no_wrap=True)
    bar = ProgressBar(total=None if total is None else max(total, 1), completed=done, pulse=total is None)
    line.add_row(Text(name, style="bold"), bar, Text(counts))
    return line
