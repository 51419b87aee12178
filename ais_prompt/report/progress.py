"""The progress of tasks on standard error: a board in a terminal, a bar in a notebook, now and then a line in a log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TextIO

from ais_prompt.engine.progress import Progress
from ais_prompt.report.board import Board
from ais_prompt.report.tally import Tally, idle
from ais_prompt.types import Activity
from ais_prompt.utils.progress import in_notebook, tracking
from ais_prompt.utils.text import printable

LOG_INTERVAL = 10.0
"""Seconds between two lines of a log."""
_NOTEBOOK_INTERVAL = 0.2
"""Seconds between two states of a bar in a notebook."""


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
            show = self._board.show if self._board else _bar if in_notebook() else _lines
            with show(tally):
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


def _lines(tally: Tally) -> AbstractContextManager[None]:
    """Print a line at each interval, whether anything moves or not."""
    return _repeated(LOG_INTERVAL, lambda: tally.note(tally.line()))


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
