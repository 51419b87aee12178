"""Meters of a session: what it will ask, what it asks and spends, and how fast a served model answers.

`estimate` counts the requests and tokens of a task before it is asked. `Spending` pauses a session whose budget, or the
quota of a provider, is used up. `SpeedMeter` measures, and `Progress` is what shows a task while it is asked.
"""

from __future__ import annotations

import math
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from ais_prompt.engine.conversations import conversations_of
from ais_prompt.errors import AisPromptError, Paused
from ais_prompt.evaluators import AsksInParts
from ais_prompt.inferencers import PerformsRequests, RepeatingInferencer
from ais_prompt.models import AgentModel, approximate_tokens
from ais_prompt.plan import Task
from ais_prompt.types import (
    Budget,
    Completion,
    Decoding,
    Failure,
    JudgeSpec,
    LikelihoodQuery,
    Price,
    Request,
    Sample,
    Speed,
    Times,
    Used,
)

QUOTA: Final = "quota"
"""The kind of a failure that says that the account may ask nothing more."""
GO_ON: Final = "every answer so far is kept; go on with -r"
FEW: Final = 1_000
"""Values that are sorted without handing Python's lock to other threads."""
SAMPLES: Final = 100
"""Samples of a dataset whose prompts are made; the others are taken to be like them."""
_NOT_MEASURED: Final = Completion(failure=Failure("not_asked", ""))


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
        # Estimated where the server did not count them.
        sent, received = usage.prompt_tokens, usage.completion_tokens
        if sent is None:
            sent = 0 if failure else approximate_tokens(request.prompt)
        if received is None:
            received = approximate_tokens(completion.reasoning + completion.text)
        with self._lock:
            self._requests += 1
            self._attempts += completion.attempts
            self._estimated += failure is None and None in (usage.prompt_tokens, usage.completion_tokens)
            self._input_tokens += sent
            self._output_tokens += received
            if price is not None:
                cost = price.cost(sent, received, usage)
                self._cost[price.currency] = self._cost.get(price.currency, 0.0) + cost

    def add_cancelled(self, attempts: int) -> None:
        """Count a request that was sent so often (0 if it only waited), and cancelled before its answer came."""
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
        cost = sum(self._cost.values())  # of one currency, see `ais_prompt.config.parse_run`
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


class RequestEstimate(Struct, frozen=True):
    """The requests of a task, as far as they are known before.

    Attributes:
        task: ``model/dataset``.
        samples: number of questions.
        requests: number of requests. Turns of a dialogue that depend on the answers are taken to be asked.
        input_tokens: tokens of the prompts, about: all show the examples of the first question, and those of a dialogue
            no answers.
        output_tokens: the most tokens of the answers.
        price: of the model; None if it is not known.
        judges: ``abbr`` of each judge. Their tokens are not part of the numbers.
        judge_requests: the most requests to all judges: one for each answer, two where answers are compared in both
            orders.
        is_least: whether requests, tokens and costs are those of the first request of each sample: an agent decides
            while it runs what else it asks.
    """

    task: str
    samples: int
    requests: int
    input_tokens: int
    output_tokens: int
    price: Price | None
    judges: tuple[str, ...] = ()
    judge_requests: int = 0
    is_least: bool = False

    @property
    def least_cost(self) -> float | None:
        """The cost of the prompts; None without a price."""
        return None if self.price is None else self.price.cost(self.input_tokens, 0)

    @property
    def most_cost(self) -> float | None:
        """The cost if every answer is as long as it may be; None without a price."""
        return None if self.price is None else self.price.cost(self.input_tokens, self.output_tokens)

    @property
    def batch_part(self) -> float | None:
        """The part of the cost that batches take; None if it is not known."""
        return None if self.price is None else self.price.batch


def estimate(task: Task) -> RequestEstimate:
    """Estimate what a task asks: requests, tokens, cost. No weights are loaded and nothing is sent.

    Raises:
        AisPromptError: the data cannot be read, or a prompt cannot be made.
    """
    test = task.data.test
    requests = sent = received = 0

    def answer(request: Request) -> Completion:
        nonlocal requests, sent, received
        requests += 1
        # Loading a tokenizer would take longer than all else.
        sent += approximate_tokens(request.prompt)
        if isinstance(request.decoding, LikelihoodQuery):
            sent += approximate_tokens(request.decoding.continuation or "")
        if isinstance(request.decoding, Decoding):
            received += request.decoding.max_out_len
            return Completion("", "stop")
        return _NOT_MEASURED

    count = min(len(test), SAMPLES)
    chosen = [test[number * len(test) // count] for number in range(count)]
    if chosen:
        for _ in conversations_of(task.with_trial_shots(), answer, chosen):
            pass
    scale = len(test) / count if count else 0.0
    judged = [(judge, one) for one in task.scorings if (judge := one.spec.dataset.eval.judge)]
    answers = task.inferencer.n if isinstance(task.inferencer, RepeatingInferencer) else 1
    return RequestEstimate(
        task.name,
        len(test),
        math.ceil(requests * scale),
        math.ceil(sent * scale),
        math.ceil(received * scale),
        task.spec.model.price,
        tuple(dict.fromkeys(model.abbr for judge, _ in judged for model in judge.models)),
        math.ceil(
            len(test) * answers * sum(len(judge.models) * _questions(judge, one, chosen) for judge, one in judged)
        ),
        isinstance(task.model, AgentModel)
        or (isinstance(task.inferencer, PerformsRequests) and task.inferencer.is_open_ended),
    )


def _questions(judge: JudgeSpec, scoring: Task, samples: Sequence[Sample]) -> float:
    """Return how many questions a judge is asked about an answer: for each order, rival, or part of a question.

    Args:
        judge: of one evaluator.
        scoring: the task with this evaluator.
        samples: some of its samples, over which the parts are counted.
    """
    references = judge.reference_answers
    if references is not None and references.models:
        from ais_prompt.judges import pairs_per_question

        return pairs_per_question(references, scoring.spec.model.abbr)
    evaluator = scoring.dataset.evaluator
    if not isinstance(evaluator, AsksInParts) or not samples:
        return 1 if references is None else 2
    asked = 0
    for sample in samples:
        with suppress(AisPromptError):  # a gold that cannot be used fails its sample
            asked += len(evaluator.parts(scoring.dataset.gold_of(sample.gold)))
    return asked / len(samples)


def exceeded(budget: Budget, estimates: list[RequestEstimate]) -> list[str]:
    """Return which limits of a budget a run would certainly reach, or might reach if its answers are long."""
    kinds = ("requests", "judge_requests", "input_tokens", "output_tokens", "least_cost", "most_cost")
    total = {kind: math.fsum(getattr(one, kind) or 0 for one in estimates) for kind in kinds}
    sent = total["input_tokens"]
    found = []
    for name, limit, low, high in (
        ("max_requests", budget.max_requests, total["requests"], total["requests"] + total["judge_requests"]),
        ("max_tokens_total", budget.max_tokens_total, sent, sent + total["output_tokens"]),
        ("max_cost", budget.max_cost, total["least_cost"], total["most_cost"]),
    ):
        if limit is not None and high > limit:
            found.append(f"{name}={limit:,} {'is not enough' if low > limit else 'may not be enough'}")
    return found


class Progress(Protocol):
    """Receives the progress of a task."""

    def advance(self, failed: bool = False) -> None:
        """Count a finished sample."""

    def answered(self, completion: Completion) -> None:
        """Count a request that has come to its end."""

    def note(self, text: str) -> None:
        """Something that the user should know now."""

    def resumed(self, text: str) -> None:
        """Which answers of earlier sessions are used."""


class OpenProgress(Protocol):
    """Opens the progress of one task."""

    def __call__(self, name: str, total: int, done: int) -> AbstractContextManager[Progress]:
        """The task has ``total`` samples, ``done`` of them finished by an earlier run."""


@contextmanager
def silent_progress(name: str, total: int, done: int) -> Iterator[Progress]:  # noqa: ARG001
    """Show nothing of a task."""
    yield _Silent()


class _Silent:
    """Shows nothing."""

    def advance(self, failed: bool = False) -> None: ...

    def answered(self, completion: Completion) -> None: ...

    def note(self, text: str) -> None: ...

    def resumed(self, text: str) -> None: ...
