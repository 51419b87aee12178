"""Progress of long work on standard error: a bar in a terminal, now and then a line in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

LOG_INTERVAL = 10.0
"""Seconds between two lines of a log, at least."""


class Progress(Protocol):
    """What is told about a task while it runs."""

    def advance(self, failed: bool = False) -> None:
        """One more sample is done."""

    def note(self, text: str) -> None:
        """Print a line without breaking the bar."""


@contextmanager
def task_progress(name: str, total: int, done: int = 0, stream: TextIO | None = None) -> Iterator[Progress]:
    """Show the progress of one task, and a last line with the outcome when it ends or is stopped.

    Args:
        name: ``model/dataset``.
        total: samples in all.
        done: samples that were done before, in an earlier run; they have no part in the rate.
        stream: where to write; standard error if left out.
    """
    stream = stream or sys.stderr
    tally = _Tally(name, total, done)
    progress = _Bar(tally, stream) if stream.isatty() else _Log(tally, stream)
    try:
        yield progress
    finally:
        progress.close()
        print(tally.last_line(), file=stream, flush=True)


class _Tally:
    """What is counted, and the line that says it."""

    def __init__(self, name: str, total: int, done: int) -> None:
        self.name = name
        self.total = total
        self.before = done
        self.done = done
        self.failed = 0
        self.start = time.monotonic()

    def add(self, failed: bool) -> None:
        self.done += 1
        self.failed += failed

    def line(self) -> str:
        """``[demo/addition] 120/200 60 % · 0 failed · 31/s · 3 s left``."""
        rate = self._rate()
        left = f" · {_duration((self.total - self.done) / rate)} left" if rate else ""
        return f"{self._counts()}{_per_second(rate)}{left}"

    def last_line(self) -> str:
        """``[demo/addition] 200/200 100 % · 0 failed · 31/s · in 6 s``; "stopped after" if some are left."""
        ending = "in" if self.done >= self.total else "stopped after"
        return f"{self._counts()}{_per_second(self._rate())} · {ending} {_duration(time.monotonic() - self.start)}"

    def _counts(self) -> str:
        percent = 100 * self.done // self.total if self.total else 100
        return f"[{self.name}] {self.done}/{self.total} {percent} % · {self.failed} failed"

    def _rate(self) -> float:
        """Samples a second in this run; 0 before the first."""
        return (self.done - self.before) / max(time.monotonic() - self.start, 1e-9)


class _Log:
    """Lines for a file, a pipe or CI."""

    def __init__(self, tally: _Tally, stream: TextIO) -> None:
        self.tally = tally
        self.stream = stream
        self.last_time = tally.start

    def advance(self, failed: bool = False) -> None:
        self.tally.add(failed)
        now = time.monotonic()
        if now - self.last_time >= LOG_INTERVAL and self.tally.done < self.tally.total:
            self.last_time = now
            self.note(self.tally.line())

    def note(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def close(self) -> None:
        """Nothing is open."""


class _Bar:
    """One bar of tqdm, which gives way to the last line."""

    def __init__(self, tally: _Tally, stream: TextIO) -> None:
        from tqdm import tqdm

        self.tally = tally
        self.stream = stream
        self.bar = tqdm(
            desc=tally.name,
            total=tally.total,
            initial=tally.done,
            unit="sample",
            postfix="0 failed",
            file=stream,
            dynamic_ncols=True,
            leave=False,
            delay=1,  # short work shows its last line only
        )

    def advance(self, failed: bool = False) -> None:
        self.tally.add(failed)
        if failed:
            self.bar.set_postfix_str(f"{self.tally.failed} failed", refresh=False)
        self.bar.update()

    def note(self, text: str) -> None:
        self.bar.write(text, file=self.stream)

    def close(self) -> None:
        # A note may have drawn the bar before its delay was over; `close` alone would leave it there.
        self.bar.clear()
        self.bar.close()


def _per_second(rate: float) -> str:
    if not rate:
        return ""
    return f" · {rate:.0f}/s" if rate >= 10 else f" · {rate:.2g}/s"


def _duration(seconds: float) -> str:
    """``<1 s``, ``3 s``, ``2 min 5 s`` or ``1 h 2 min``."""
    if seconds < 1:
        return "<1 s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
