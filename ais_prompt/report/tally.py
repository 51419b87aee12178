"""Count the progress of a task, and format the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ais_prompt.types import Activity, Completion


def idle() -> Activity:
    """Return the activity of a model that reports none."""
    return Activity()


class Tally:
    """The counts of one task, and lines that show them.

    Args:
        name: ``model/dataset``.
        total: samples in all.
        done: samples finished in an earlier session; they do not count in the rates.
        activity: returns the state of requests between the model and its server.
        note: prints a line.
    """

    def __init__(
        self,
        name: str,
        total: int,
        done: int = 0,
        activity: Callable[[], Activity] = idle,
        note: Callable[[str], None] = print,
    ) -> None:
        self.name = name
        self.total = total
        self.before = done
        self.done = done
        self.failed = 0
        self.note = note
        self._activity = activity
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

    def line(self) -> str:
        """``[demo/addition] 120/200 60 % · 0 failed · 31 requests/s · 90 tokens/s · 3 s left``."""
        return " · ".join(part for part in (self.head(), self.rates(), self.doing(), self.left()) if part)

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
        percent = 100 * self.done // self.total if self.total else 100
        return f"{self.done}/{self.total} {percent} % · {self.failed} failed"

    def rates(self) -> str:
        """``31 requests/s · 90 tokens/s``, of this run; empty before the first."""
        return summed_rates([self])

    def doing(self) -> str:
        """``3 waiting (http_429, next try in 12 s)``; empty if nothing waits."""
        activity = self._activity()
        if not activity.waiting:
            return ""
        return f"{activity.waiting} waiting ({activity.reason}, next try in {duration(activity.seconds)})"

    def left(self) -> str:
        """``3 s left`` at the speed so far, and at least the current wait; empty before the first sample."""
        done = self.done - self.before
        if not done:
            return ""
        activity = self._activity()
        wait = 0.0 if activity.in_flight else activity.seconds
        return f"{duration(max((self.total - self.done) * self.elapsed / done, wait))} left"


def summed_rates(tallies: Sequence[Tally]) -> str:
    """Return the rates of tasks that run side by side, added up: ``31 requests/s · 90 tokens/s``."""
    rates = [
        (sum(tally.requests / max(tally.elapsed, 1e-9) for tally in tallies), "requests/s"),
        (sum(tally.tokens / max(tally.elapsed, 1e-9) for tally in tallies), "tokens/s"),
    ]
    return " · ".join(f"{_rate(rate)} {unit}" for rate, unit in rates if rate)


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
