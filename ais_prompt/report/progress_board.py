"""Show progress on standard error: bars of rich in a terminal, of tqdm in a notebook, now and then a line elsewhere."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final, TextIO

import rich.progress
from rich.console import Console, RenderableType
from rich.progress import BarColumn, TextColumn
from rich.table import Column
from rich.text import Text

from ais_prompt.engine import Progress
from ais_prompt.report.tally import RunTally, Tally
from ais_prompt.terminal import Advance, Alike, Facts, in_notebook, is_quiet, shown_on, tracking
from ais_prompt.utils import counted, printable

logger = logging.getLogger(__name__)
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
        self._alike = Alike()

    @contextmanager
    def task(self, name: str, total: int, done: int = 0) -> Iterator[Progress]:
        """Show the progress of one task. It ends with a line with its outcome, unless the run has many tasks.

        Args:
            name: ``model/dataset``.
            total: samples in all.
            done: samples finished in an earlier session; they do not count in the rates.
        """
        tally = Tally(name, total, done, self.note, is_alone=self._tally.tasks <= 1)
        self._tally.begin(tally)
        bar = self._board.task(tally) if self._board else _notebook_bar(tally) if in_notebook() else nullcontext()
        try:
            with bar:
                yield tally
        finally:
            self._tally.end(tally)
            # The end of the command says why nothing was done.
            if not self._tally.has_many and (tally.done or not total):
                self.print(tally.last_line())

    def close(self) -> None:
        """Print the outcomes of the models of many tasks, and how many notes were not printed."""
        for line in (*self._alike.more(), *(self._tally.last_lines() if self._tally.has_many else ())):
            self.print(line)

    def skip(self, name: str) -> None:
        """Leave out a task that cannot begin."""
        self._tally.skip(name)

    def note(self, text: str) -> None:
        """Log a note of a task, and print it if it is one of the first of its kind."""
        logger.info("%s", text)
        if self._alike.is_shown(text):
            self.print(text)

    def print(self, text: str) -> None:
        """Print a line without disturbing what is drawn."""
        text = printable(text)
        if self._board:
            self._board.console.print(Text(text))
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
        board = Board(tally, stream)
        with closing(RunProgress(stream, tally, board)) as progress, board, shown_on(board.work):
            yield progress
        return
    progress = RunProgress(stream, tally, None)

    def write() -> None:
        if tally.running:
            progress.print(tally.line())

    with closing(progress), nullcontext() if in_notebook() else _repeated(LOG_INTERVAL, write):
        yield progress


@contextmanager
def _notebook_bar(tally: Tally) -> Iterator[None]:
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
"""Seconds until a bar is drawn: short work shows its last line only."""
SHOWN: Final = 3
"""Tasks under way that have a bar of their own, the oldest ones."""


class Board(rich.progress.Progress):
    """Draw a run; finished tasks leave lines above the bars, and so do other lines of standard error.

    The first bar is that of the whole run. Those of tasks follow their `Tally`, and others are counted by their work.

    Args:
        tally: the counts of the run.
        stream: a terminal.
    """

    def __init__(self, tally: RunTally, stream: TextIO) -> None:
        self._tally = tally  # rich asks for what is drawn when it is made
        name = Column(ratio=2, no_wrap=True, overflow="ellipsis")
        super().__init__(
            TextColumn("{task.description}", style="bold", markup=False, table_column=name),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            TextColumn("{task.fields[counts]}", markup=False, table_column=Column(justify="right", no_wrap=True)),
            console=Console(file=stream),
            refresh_per_second=4,
            transient=True,
            expand=True,
        )
        if tally.tasks > 1:
            self.add_task("", run=tally)

    @contextmanager
    def task(self, tally: Tally) -> Iterator[None]:
        """Show a task of the run."""
        bar = self.add_task(tally.name, total=tally.total, tally=tally)
        try:
            yield
        finally:
            self.remove_task(bar)

    @contextmanager
    def work(self, description: str, total: int | None, unit: str, facts: Facts | None = None) -> Iterator[Advance]:
        """Show work beside the tasks, such as scoring; see `ais_prompt.terminal.progress.tracking`."""
        bar = self.add_task(description, total=total, unit=unit, facts=facts)
        try:
            yield partial(self.advance, bar)
        finally:
            self.remove_task(bar)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bars of the run, its oldest tasks and the newest work, and lines of text below them."""
        run = self._tally
        whole = [bar for bar in self.tasks if "run" in bar.fields]
        tasks = [bar for bar in self.tasks if "tally" in bar.fields and _is_long(bar)]
        work = [bar for bar in self.tasks if "unit" in bar.fields and _is_long(bar)][-1:]
        for bar in tasks:
            tally: Tally = bar.fields["tally"]
            self.update(bar.id, completed=tally.done, counts=tally.counts())
        for bar in work:
            of = "" if bar.total is None else f" of {bar.total:,}"
            facts = f" · {bar.fields['facts']()}" if bar.fields["facts"] else ""
            self.update(bar.id, counts=f"{bar.completed:,}{of} {bar.fields['unit']}{facts}")
        if not run.running:
            return [self.make_tasks_table(work)]
        if not (tasks or run.over):
            return []
        for bar in whole:
            done, total = run.samples()
            self.update(bar.id, description=run.head(), completed=done, total=total, counts=run.counts())
        return [
            self.make_tasks_table([*whole, *tasks[:SHOWN], *work]),
            *self._lines(len(run.running) - len(tasks[:SHOWN])),
        ]

    def _lines(self, more: int) -> Iterator[Text]:
        run = self._tally
        to_come, scoring = run.to_come, run.scoring()
        lines = (
            (run.speed(), "dim"),
            *((doing, "yellow" if "waiting" in doing or "down" in doing else "dim") for doing in run.doing()),
            (f"scoring {scoring}" if scoring else "", "dim"),
            (f"{counted(more, 'more task')} under way" if more else "", "dim"),
            (f"{counted(len(to_come), 'task')} to come: {', '.join(to_come[:SHOWN])}" if to_come else "", "dim"),
        )
        for text, style in lines:
            if text:
                yield Text(text, style, no_wrap=True, overflow="ellipsis")


def _is_long(bar: rich.progress.Task) -> bool:
    return (bar.elapsed or 0.0) >= DELAY
