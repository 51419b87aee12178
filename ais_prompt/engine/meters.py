"""Meters of a session: what it asks and spends, and how fast a served model answers.

`Spending` pauses a session whose budget, or the quota of a provider, is used up.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np

from ais_prompt.errors import Paused
from ais_prompt.models import approximate_tokens
from ais_prompt.types import Budget, Completion, Price, Request, Speed, Times, Used

QUOTA: Final = "quota"
"""The kind of a failure that says that the account may ask nothing more."""
GO_ON: Final = "every answer so far is kept; go on with -r"
FEW: Final = 1_000
"""Values that are sorted without handing Python's lock to other threads."""


class Spending:
    """Counts the requests, tokens and costs of one session, from any thread.

    Tokens and costs are known only when a request has ended. Those that are under way are expected to need as much as
    the mean so far; they are finished in any case, so that the limit can be exceeded by what they need beyond that.

    Args:
        budget: how much may be asked.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._has_limit = self._budget != Budget()
        self._lock = threading.Lock()
        self._requests = self._attempts = self._input_tokens = self._output_tokens = 0  # of requests that have ended
        self._estimated = 0
        self._cost: dict[str, float] = {}  # by currency
        self._begun = 0
        self._pause: str = ""  # why nothing more may be asked
        self._without_quota: dict[str, str] = {}  # abbr of a model → what its provider says

    @property
    def used(self) -> Used:
        """The requests, tokens and costs so far."""
        with self._lock:
            counts = self._requests, self._input_tokens, self._output_tokens
            return Used(*counts, dict(self._cost), self._attempts, self._estimated)

    def check(self, model: str) -> None:
        """See whether anything more may be asked.

        Args:
            model: ``abbr`` of the model.

        Raises:
            Paused: nothing more may.
        """
        with self._lock:
            self._check(model)

    def admit(self, model: str, count: int = 1) -> int:
        """Return how many requests may be sent, at least one and at most ``count``; `add` must follow for each.

        Raises:
            Paused: none may.
        """
        with self._lock:
            self._check(model)
            most = self._budget.max_requests
            admitted = count if most is None else min(count, most - self._begun)
            self._begun += admitted
            return admitted

    def add(self, model: str, price: Price | None, request: Request, completion: Completion) -> None:
        """Count a request that has ended.

        Args:
            model: ``abbr`` of the model.
            price: of that model.
            request: the request.
            completion: its answer or failure.

        Raises:
            Paused: the provider's quota is used up; the request is no failure, and was not answered.
        """
        failure, usage = completion.failure, completion.usage
        if failure is not None and failure.kind == QUOTA:
            with self._lock:
                self._begun -= 1
                self._without_quota.setdefault(model, f"the provider's quota is used up: {failure.message}")
                self._check(model)
        sent, received = _tokens(request, completion)
        with self._lock:
            self._requests += 1
            self._attempts += completion.attempts
            self._estimated += failure is None and None in (usage.prompt_tokens, usage.completion_tokens)
            self._input_tokens += sent
            self._output_tokens += received
            if price is not None:
                self._cost[price.currency] = self._cost.get(price.currency, 0.0) + price.cost(sent, received)

    def add_cancelled(self, attempts: int) -> None:
        """Count a request that was sent so often, and cancelled before its answer came; 0 for one that only waited."""
        with self._lock:
            self._requests += attempts > 0
            self._attempts += attempts

    def _check(self, model: str) -> None:
        if self._has_limit and not self._pause:
            self._pause = self._spent()
        if why := self._pause or self._without_quota.get(model, ""):
            raise Paused(why, fix=GO_ON)

    def _spent(self) -> str:
        budget, tokens = self._budget, self._input_tokens + self._output_tokens
        if budget.max_requests is not None and self._begun >= budget.max_requests:
            return f"max_requests={budget.max_requests:,} is used up"
        expected = self._begun / self._requests if self._requests else 1.0
        if budget.max_tokens_total is not None and tokens * expected >= budget.max_tokens_total:
            return f"max_tokens_total={budget.max_tokens_total:,} is used up: {tokens:,} tokens"
        cost = sum(self._cost.values())  # of one currency, see `ais_prompt.config.parse.model`
        if budget.max_cost is not None and cost * expected >= budget.max_cost:
            return f"max_cost={budget.max_cost:,} is used up: {cost:.4g} {''.join(self._cost)}"
        return ""


class SpeedMeter:
    """Adds up times and tokens of requests, some 30 bytes of memory each.

    Args:
        clock: tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first = float("inf")
        self._last = 0.0
        self._failed = self._attempts = self._input_tokens = self._output_tokens = 0
        self._busy = 0.0
        self._replicas: Counter[str] = Counter()
        self._latencies, self._first_tokens, self._tokens = array("d"), array("d"), array("d")
        self._waited = array("d")

    def add(self, completion: Completion) -> None:
        """Note a request that has just come to its end."""
        now = self._clock()
        self._last = now
        self._first = min(self._first, now - completion.seconds)
        self._busy += completion.seconds
        self._attempts += completion.attempts
        self._waited.append(completion.waited_seconds)
        if completion.failure is not None:
            self._failed += 1
            return
        if completion.replica:
            self._replicas[completion.replica] += 1
        self._latencies.append(completion.seconds)
        self._input_tokens += completion.usage.prompt_tokens or 0
        self._output_tokens += completion.usage.completion_tokens or 0
        if completion.first_token_seconds is not None:
            self._first_tokens.append(completion.first_token_seconds)
        if completion.token_seconds is not None:
            self._tokens.append(completion.token_seconds)

    def speed(self) -> Speed | None:
        """Return the measured speed; None without requests."""
        requests = len(self._latencies) + self._failed
        if not requests:
            return None
        seconds = self._last - self._first
        return Speed(
            requests,
            self._failed,
            self._attempts,
            self._input_tokens,
            self._output_tokens,
            seconds,
            self._busy / seconds if seconds else 0.0,
            _times(self._latencies),
            _times(self._first_tokens),
            _times(self._tokens),
            dict(sorted(self._replicas.items())),
            _times(self._waited) if any(self._waited) else None,
        )


def _tokens(request: Request, completion: Completion) -> tuple[int, int]:
    """Return the tokens of a prompt and of its answer, estimated where the server did not count them."""
    sent, received = completion.usage.prompt_tokens, completion.usage.completion_tokens
    if sent is None:
        sent = 0 if completion.failure else approximate_tokens(request.prompt)
    if received is None:
        received = approximate_tokens(completion.reasoning + completion.text)
    return sent, received


def _times(values: array[float]) -> Times | None:
    """Percentiles with linear interpolation between the values, as `numpy.percentile`, which is slow for a few."""
    if not values:
        return None
    # While numpy sorts, other threads run, and getting Python's lock back takes longer than sorting a few values.
    seconds = np.array(sorted(values)) if len(values) <= FEW else np.sort(np.frombuffer(values))

    def percentile(share: float) -> float:
        place = share * (len(seconds) - 1)
        below = float(seconds[int(place)])
        above = float(seconds[min(int(place) + 1, len(seconds) - 1)])
        return below + (above - below) * (place - int(place))

    return Times(float(seconds.mean()), percentile(0.5), percentile(0.9), percentile(0.99))
