"""Count the progress of a task, and format the counts."""

from __future__ import annotations

import time
from collections.abc import Callable

from ais_prompt.types import Completion


class Tally:
    """The counts of one task, and lines that show them.

    Args:
        name: ``model/dataset``.
        total: samples in all.
        done: samples finished in an earlier session; they do not count in the rates.
        note: prints a line.
    """

    def __init__(
        self,
        name: str,
        total: int,
        done: int = 0,
        note: Callable[[str], None] = print,
    ) -> None:
        self.name = name
        self.total = total
        self.before = done
        self.done = done
        self.failed = 0
        self.note = note
        self.requests = 0
        self.tokens = 0
        self.start = time.monotonic()

    def advance(self, failed: bool = False) -> None:
        """Count a finished sample."""
        self.done += 1
        self.failed += failed

    def answered(self, completion: Completion) -> None:
        """Count a finished request."""
        self.requests += 1
        self.tokens += completion.usage.completion_tokens or 0

    @property
    def elapsed(self) -> float:
        """Seconds since the task began."""
        return time.monotonic() - self.start

    def last_line(self) -> str:
        """``[demo/addition] 200/200 100 % · 0 failed · 31 requests/s · in 6 s``; "stopped after" if some are left."""
        ending = "in" if self.done >= self.total else "stopped after"
        parts = (self.head(), self.rates(), f"{ending} {duration(self.elapsed)}")
        return " · ".join(part for part in parts if part)

    def head(self) -> str:
        """Name of the task and its counts."""
        return f"[{self.name}] {self.counts()}"

    def counts(self) -> str:
        """``120/200 60 % · 0 failed``."""
        return f"{share(self.done, self.total)} · {self.failed} failed"

    def rates(self) -> str:
        """``31 requests/s · 90 tokens/s``, of this run; empty before the first."""
        return rates(self.requests, self.tokens, self.elapsed)


def rates(requests: float, tokens: float, seconds: float) -> str:
    """Return ``31 requests/s · 90 tokens/s``; empty if nothing was answered."""
    found = ((requests, "requests/s"), (tokens, "tokens/s"))
    return " · ".join(f"{_rate(count / max(seconds, 1e-9))} {unit}" for count, unit in found if count)


def share(done: int, total: int) -> str:
    """Return ``120/200 60 %``."""
    return f"{done:,}/{total:,} {100 * done // total if total else 100} %"


def duration(seconds: float) -> str:
    """``<1 s``, ``3 s``, ``2 min 5 s`` or ``1 h 2 min``."""
    if seconds < 1:
        return "<1 s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _rate(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
