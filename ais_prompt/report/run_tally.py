"""Count the progress of a whole run: its tasks, samples, rates and cost, and what each endpoint is doing."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ais_prompt.report.spending import money
from ais_prompt.report.tally import Tally, duration, rates, share
from ais_prompt.types import Activity, Used

WINDOW_SECONDS: Final = 10.0
"""Rates are those of the last so many seconds."""


class EndpointView(Struct, frozen=True):
    """An endpoint, as progress shows it.

    Attributes:
        name: its address; of a model without one its ``abbr``.
        models: ``abbr`` of each model that is asked there.
        activity: returns what it is doing.
    """

    name: str
    models: frozenset[str]
    activity: Callable[[], Activity] = Activity

    def has(self, task: str) -> bool:
        """Return whether a task asks this endpoint."""
        return any(task.startswith(f"{model}/") for model in self.models)

    def doing(self) -> str:
        """Return ``62 asking · 3 waiting (http_429, next try in 12 s)``; empty if that is not known."""
        now = self.activity()
        parts = [f"{now.in_flight:,} asking"] if now.in_flight else []
        if now.waiting:
            parts.append(f"{now.waiting:,} waiting ({now.reason}, next try in {duration(now.seconds)})")
        parts += [" ".join(filter(None, (address, f"down for {duration(away)}"))) for address, away in now.away]
        return " · ".join(parts)

    @property
    def wait(self) -> float:
        """Seconds until the next request is sent, if none is under way."""
        now = self.activity()
        return 0.0 if now.in_flight else now.seconds


class RunTally:
    """The counts of a run.

    Args:
        sizes: name of each task, in order → number of its samples; None if that is not known yet.
        endpoints: all that are asked.
        used: returns what was asked so far.
        scoring: returns what is being scored beside the asking, in words; empty for nothing.
    """

    def __init__(
        self,
        sizes: Mapping[str, int | None],
        endpoints: Sequence[EndpointView] = (),
        used: Callable[[], Used] = Used,
        scoring: Callable[[], str] = str,
    ) -> None:
        self.tasks = len(sizes)
        self.running: list[Tally] = []  # replaced, not changed: other threads read it
        self.over: list[Tally] = []
        self.scoring = scoring
        self._sizes = sizes
        self._to_come = dict.fromkeys(sizes)
        self._endpoints = endpoints
        self._used = used
        self._past = deque([(time.monotonic(), 0, 0)])
        self._began: dict[str, float] = {}

    @property
    def to_come(self) -> list[str]:
        """The names of the tasks that have not begun, in order."""
        return list(self._to_come)

    def begin(self, tally: Tally) -> None:
        """Note that a task begins, perhaps beside others."""
        self.skip(tally.name)
        self.running = [*self.running, tally]
        for endpoint in self._endpoints:
            if endpoint.has(tally.name):
                self._began.setdefault(endpoint.name, tally.start)

    def end(self, tally: Tally) -> None:
        """Note that a task is over, or was stopped."""
        self.running = [other for other in self.running if other is not tally]
        self.over.append(tally)

    def skip(self, name: str) -> None:
        """Note that a task cannot begin."""
        self._to_come.pop(name, None)

    def head(self) -> str:
        """Return ``12 of 57 tasks done``."""
        running = sum(tally.name in self._sizes for tally in self.running)
        return f"{self.tasks - len(self._to_come) - running} of {self.tasks} tasks done"

    def samples(self) -> tuple[int, int]:
        """Return how many samples are done, and how many there are; those of tasks that were stopped are left out."""
        begun = [tally for tally in (*self.over, *self.running) if tally.name in self._sizes]
        done = sum(tally.done for tally in begun)
        running = sum(tally.total for tally in self.running if tally.name in self._sizes)
        over = sum(tally.done for tally in self.over if tally.name in self._sizes)
        return done, over + running + sum(self._sizes[name] or 0 for name in self.to_come)

    def counts(self) -> str:
        """Return ``1,234/9,600 12 % · 3 failed``."""
        return f"{share(*self.samples())} · {sum(tally.failed for tally in (*self.over, *self.running))} failed"

    def speed(self) -> str:
        """Return rates over all endpoints, cost and time left: ``31 requests/s · 0.43 USD · 2 min 5 s left``."""
        parts = [self._rates(), *(money(amount, currency) for currency, amount in self._used().cost.items())]
        return " · ".join(filter(None, (*parts, self.left())))

    def doing(self) -> list[str]:
        """Return a line for each endpoint that is asked now, with its name if there are several."""
        asked = [endpoint for endpoint in self._endpoints if any(endpoint.has(tally.name) for tally in self.running)]
        named = len(self._endpoints) > 1
        return [f"{endpoint.name}: {doing}" if named else doing for endpoint in asked if (doing := endpoint.doing())]

    def left(self) -> str:
        """Return ``3 s left``: that of the slowest endpoint at its speed so far, and at least its wait."""
        found = [seconds for endpoint in self._endpoints if (seconds := self._seconds_left(endpoint)) is not None]
        return f"{duration(max(found))} left" if found else ""

    def line(self) -> str:
        """Return all of it in one line, for a log."""
        heads = [tally.head() for tally in self.running[:1]]
        if self.tasks > 1:
            heads = [f"[run] {self.head()}", f"{self.counts()}"]
        scoring = self.scoring()
        parts = (*heads, self.speed(), *self.doing(), scoring and f"scoring {scoring}")
        return " · ".join(filter(None, parts))

    def _rates(self) -> str:
        tallies = (*self.over, *self.running)
        now = time.monotonic(), sum(tally.requests for tally in tallies), sum(tally.tokens for tally in tallies)
        while len(self._past) > 1 and now[0] - self._past[1][0] >= WINDOW_SECONDS:
            self._past.popleft()
        before = self._past[0]
        self._past.append(now)
        return rates(now[1] - before[1], now[2] - before[2], now[0] - before[0])

    def _seconds_left(self, endpoint: EndpointView) -> float | None:
        if endpoint.name not in self._began:
            return None
        mine = [tally for tally in (*self.over, *self.running) if endpoint.has(tally.name)]
        if not (done := sum(tally.done - tally.before for tally in mine)):
            return None
        to_come = sum(self._sizes[name] or 0 for name in self.to_come if endpoint.has(name))
        rest = to_come + sum(tally.total - tally.done for tally in self.running if endpoint.has(tally.name))
        return max(rest * (time.monotonic() - self._began[endpoint.name]) / done, endpoint.wait) if rest else None
