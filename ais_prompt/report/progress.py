"""Progress of long work on standard error: a board in a terminal, now and then a line in a log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TextIO

from ais_prompt.engine.progress import Progress
from ais_prompt.report.board import Board
from ais_prompt.report.tally import Tally, idle
from ais_prompt.types import Activity
from ais_prompt.utils.text import printable

LOG_INTERVAL = 10.0
"""Seconds between two lines of a log."""


class RunProgress:
    """Shows the tasks of a run, one after the other.

    Args:
        stream: where to write.
        board: draws in a terminal; None for a file, a pipe or CI.
    """

    def __init__(self, stream: TextIO, board: Board | None) -> None:
        self._stream = stream
        self._board = board

    @contextmanager
    def task(self, name: str, total: int, done: int = 0, activity: Callable[[], Activity] = idle) -> Iterator[Progress]:
        """Show the progress of one task, and a last line with the outcome when it ends or is stopped.

        Args:
            name: ``model/dataset``.
            total: samples in all.
            done: samples that were done before, in an earlier run; they have no part in the rates.
            activity: tells what goes on between the model and its server.
        """
        tally = Tally(name, total, done, activity, self.note)
        try:
            with self._board.show(tally) if self._board else _lines(tally):
                yield tally
        finally:
            self.note(tally.last_line())

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
def _lines(tally: Tally) -> Iterator[None]:
    """Print a line at each interval, whether anything moves or not."""
    over = threading.Event()

    def write() -> None:
        while not over.wait(LOG_INTERVAL):
            tally.note(tally.line())

    writer = threading.Thread(target=write, name="progress", daemon=True)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()
