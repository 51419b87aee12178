"""Count the progress of tasks and of a whole run; say in words what it did, used and will cost."""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from ais_prompt.types import Activity, Completion, Used
from ais_prompt.utils import counted, listed

if TYPE_CHECKING:
    from ais_prompt.engine import RequestEstimate

logger = logging.getLogger(__name__)
WINDOW_SECONDS: Final = 10.0
"""Rates are those of the last so many seconds."""
MANY: Final = 10
"""Tasks of a run above which lines are about models and groups, not about single tasks."""


class Tally:
    """The counts of one task, and lines that show them.

    Args:
        name: ``model/dataset``.
        total: samples in all.
        done: samples finished in an earlier session; they do not count in the rates.
        note: prints a line.
        is_alone: whether the run has no other task. If so, the answers of an earlier session have a line; else they are
            counted where the task ends.
    """

    def __init__(
        self,
        name: str,
        total: int,
        done: int = 0,
        note: Callable[[str], None] = print,
        *,
        is_alone: bool = True,
    ) -> None:
        self.name = name
        self.total = total
        self.before = done
        self.done = done
        self.failed = 0
        self.note = note
        self.is_alone = is_alone
        self.requests = 0
        self.tokens = 0
        self.start = self.last = time.monotonic()
        self.longest = 0.0
        self.end = math.inf

    def advance(self, failed: bool = False) -> None:
        """Count a finished sample, and note for how long none had finished before it."""
        now = time.monotonic()
        self.last, self.longest = now, max(self.longest, now - self.last)
        self.done += 1
        self.failed += failed

    def answered(self, completion: Completion) -> None:
        """Count a finished request."""
        self.requests += 1
        self.tokens += completion.usage.completion_tokens or 0

    def resumed(self, text: str) -> None:
        """Note which answers of earlier sessions are used."""
        if self.is_alone:
            self.note(text)
        else:
            logger.info("%s", text)

    def last_line(self) -> str:
        """``[demo/addition] 200/200 · 31 requests/s · 6 s``; of failures how many; "stopped after" if some are left."""
        return f"[{self.name}] {_outcome([self], self.total, time.monotonic() - self.start)}"

    def counts(self) -> str:
        """``120/200 60 % · 0 failed``."""
        return f"{share(self.done, self.total)} · {self.failed} failed"


def rates(requests: float, tokens: float, seconds: float) -> str:
    """Return ``31 requests/s · 90 tokens/s``; empty if nothing was answered."""
    counts = ((requests, "requests/s"), (tokens, "tokens/s"))
    found = [(count / max(seconds, 1e-9), unit) for count, unit in counts if count]
    return " · ".join(f"{rate:.0f} {unit}" if rate >= 10 else f"{rate:.2g} {unit}" for rate, unit in found)


def _outcome(tallies: Sequence[Tally], total: int, seconds: float) -> str:
    """Return the counts, rates and time of work that is over: ``3,000/3,000 (725 from before) · 2 failed · 11 s``."""
    done, failed, requests, tokens = (
        sum(getattr(tally, name) for tally in tallies) for name in ("done", "failed", "requests", "tokens")
    )
    before = sum(tally.before for tally in tallies if not tally.is_alone)
    parts = (
        f"{done:,}/{total:,}" + (f" ({before:,} from before)" if before else ""),
        f"{failed:,} failed" if failed else "",
        rates(requests, tokens, seconds),
        f"{'' if done >= total else 'stopped after '}{duration(seconds)}",
    )
    return " · ".join(filter(None, parts))


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


def money(amount: float, currency: str) -> str:
    """Return an amount with as many digits as it needs: ``12.34 USD``, ``0.0021 USD``."""
    digits = 2 if amount >= 1 or amount <= 0 else 1 - math.floor(math.log10(amount))
    return f"{amount:,.{max(2, digits)}f} {currency}".strip()


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
        has_many: whether there are too many tasks for a line each.
    """

    def __init__(
        self,
        sizes: Mapping[str, int | None],
        endpoints: Sequence[EndpointView] = (),
        used: Callable[[], Used] = Used,
        scoring: Callable[[], str] = str,
        *,
        has_many: bool = False,
    ) -> None:
        self.has_many = has_many
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

    def last_lines(self) -> list[str]:
        """Return for each model ``[demo] 30 tasks · 1,200/1,200 · 31 requests/s · 6 s``."""
        models: dict[str, list[Tally]] = {}
        for tally in self.over:
            models.setdefault(tally.name.rpartition("/")[0], []).append(tally)
        lines = []
        for model, tallies in models.items():
            if not any(tally.done for tally in tallies):  # the end of the command says why nothing was done
                continue
            left = [name for name in self._to_come if name.rpartition("/")[0] == model]
            total = sum(tally.total for tally in tallies) + sum(self._sizes[name] or 0 for name in left)
            seconds = max(tally.end for tally in tallies) - min(tally.start for tally in tallies)
            tasks = counted(len(tallies) + len(left), "task")
            begun = f"{len(tallies):,} of {tasks}" if left else tasks
            lines.append(f"[{model}] {begun} · {_outcome(tallies, total, seconds)}")
        return lines

    def begin(self, tally: Tally) -> None:
        """Note that a task begins, perhaps beside others."""
        self.skip(tally.name)
        self.running = [*self.running, tally]
        for endpoint in self._endpoints:
            if endpoint.has(tally.name):
                self._began.setdefault(endpoint.name, tally.start)

    def end(self, tally: Tally) -> None:
        """Note that a task is over, or was stopped."""
        tally.end = time.monotonic()
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
        tallies = (*self.over, *self.running)
        now = time.monotonic(), sum(tally.requests for tally in tallies), sum(tally.tokens for tally in tallies)
        while len(self._past) > 1 and now[0] - self._past[1][0] >= WINDOW_SECONDS:
            self._past.popleft()
        before = self._past[0]
        self._past.append(now)
        answered = rates(now[1] - before[1], now[2] - before[2], now[0] - before[0])
        parts = [answered, *(money(amount, currency) for currency, amount in self._used().cost.items())]
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
        heads = [f"[{tally.name}] {tally.counts()}" for tally in self.running[:1]]
        if self.tasks > 1:
            heads = [f"[run] {self.head()}", f"{self.counts()}"]
        scoring = self.scoring()
        parts = (*heads, self.speed(), *self.doing(), scoring and f"scoring {scoring}")
        return " · ".join(filter(None, parts))

    def _seconds_left(self, endpoint: EndpointView) -> float | None:
        if endpoint.name not in self._began:
            return None
        mine = [tally for tally in (*self.over, *self.running) if endpoint.has(tally.name)]
        if not (done := sum(tally.done - tally.before for tally in mine)):
            return None
        to_come = sum(self._sizes[name] or 0 for name in self.to_come if endpoint.has(name))
        rest = to_come + sum(tally.total - tally.done for tally in self.running if endpoint.has(tally.name))
        # Samples of a batch finish together. The time left is estimated when one finishes, and then runs down, for as
        # long as the next may take; in a longer pause it stays as it is.
        last, longest = max(tally.last for tally in mine), max(tally.longest for tally in mine)
        estimate = rest * (last - self._began[endpoint.name]) / done
        return max(estimate - min(time.monotonic() - last, longest), endpoint.wait, 0.0) if rest else None


def estimate_lines(estimates: Sequence[RequestEstimate]) -> list[str]:
    """Return a line for each task, or of many tasks for each model, and one for all of them."""
    lines = [f"{one.task}: {estimate_words([one])}" for one in estimates]
    if len(estimates) > MANY:
        models: dict[str, list[RequestEstimate]] = {}
        for one in estimates:
            models.setdefault(one.task.rpartition("/")[0], []).append(one)
        lines = [f"{name}: {counted(len(of), 'dataset')}, {estimate_words(of)}" for name, of in models.items()]
    return [*lines, f"in all: {estimate_words(estimates)}"]


def used_line(used: Used) -> str:
    """Return ``1,319 requests, 1,402 with retries · 1,204,110 tokens in · 98,400 out · 0.43 USD``.

    Estimates are marked: ``about 1,204,110 tokens in · about 98,400 out``.
    """
    about = "about " if used.estimated else ""
    sent = about + counted(used.input_tokens, "token")
    retries = f", {used.attempts:,} with retries" if used.attempts > used.requests else ""
    tokens = [f"{sent} in", f"{about}{used.output_tokens:,} out"] if used.input_tokens or used.output_tokens else []
    parts = [counted(used.requests, "request") + retries, *tokens]
    return " · ".join([*parts, *(money(amount, currency) for currency, amount in used.cost.items())])


def estimate_words(estimates: Iterable[RequestEstimate]) -> str:
    """Return ``8 questions, 8 requests, about 96 tokens in, at most 2,048 out, 0.01 to 0.05 USD (in batches 0.005 to
    0.025 USD)``.

    Requests to judges follow: ``and up to 8 requests to the judge gpt, whose tokens are not counted``. With agents the
    numbers are the least: ``at least 8 requests, at least 96 tokens in, at least 0.01 USD``.
    """
    found = list(estimates)
    samples, requests, sent, received = (
        sum(getattr(one, name) for one in found) for name in ("samples", "requests", "input_tokens", "output_tokens")
    )
    if is_least := any(one.is_least for one in found):
        words = f"{counted(samples, 'question')}, at least {counted(requests, 'request')}"
        words += f", at least {counted(sent, 'token')} in"
    else:
        words = f"{counted(samples, 'question')}, {counted(requests, 'request')}, about {counted(sent, 'token')} in"
        words += f", at most {received:,} out"
    priced = [one for one in found if one.price is not None]
    words += _cost_words(priced, is_least=is_least)
    if unpriced := len(found) - len(priced) if priced else 0:
        words += f", and {counted(unpriced, 'task')} whose price is not known"
    if verdicts := sum(one.judge_requests for one in found):
        judges = list(dict.fromkeys(judge for one in found for judge in one.judges))
        named = f"the judge{'s' * (len(judges) > 1)} {listed(judges)}"
        words += f", and up to {counted(verdicts, 'request')} to {named}, whose tokens are not counted"
    if is_least:
        words += ": what an agent asks is known only when it runs"
    return words


def _cost_words(priced: Sequence[RequestEstimate], *, is_least: bool) -> str:
    """Return what the costs add to `estimate_words`; empty if there are none."""
    currency = next((one.price.currency for one in priced if one.price), None)  # all have the same
    if currency is None:
        return ""
    costs = [(one.least_cost or 0.0, one.most_cost or 0.0, one.batch_part) for one in priced]
    least, most = math.fsum(cost[0] for cost in costs), math.fsum(cost[1] for cost in costs)
    if is_least:
        return f", at least {money(least, currency)}"
    words = f", {money(least, '')} to {money(most, currency)}"
    if all(part is not None for *_, part in costs):
        least = math.fsum(cost[0] * (cost[2] or 0.0) for cost in costs)
        most = math.fsum(cost[1] * (cost[2] or 0.0) for cost in costs)
        words += f" (in batches {money(least, '')} to {money(most, currency)})"
    return words
