"""RequestEstimate what a task asks, before anything is asked."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

from ais_prompt.engine.conversations import conversations
from ais_prompt.models.tokens.tokenizer import approximate_tokens
from ais_prompt.plan.plan import Task
from ais_prompt.types import Budget, Completion, Decoding, Failure, Price, Request

SAMPLES: Final = 100
"""Samples of a dataset whose prompts are made; the others are taken to be like them."""
_NOT_MEASURED: Final = Completion(failure=Failure("not_asked", ""))


class RequestEstimate(Struct, frozen=True):
    """What a task asks, as far as that is known before.

    Attributes:
        task: ``model/dataset``.
        samples: number of questions.
        requests: number of requests. Turns of a dialogue that depend on the answers are taken to be asked.
        input_tokens: tokens of the prompts, about: all show the examples of the first question, and those of a dialogue
            no answers.
        output_tokens: the most tokens of the answers.
        price: of the model; None if it is not known.
        judges: ``abbr`` of each judge, who is asked at most ``judgements`` times for each answer. Their requests are
            not part of the numbers.
        judgements: 2 where two answers are compared, in both orders.
    """

    task: str
    samples: int
    requests: int
    input_tokens: int
    output_tokens: int
    price: Price | None
    judges: tuple[str, ...] = ()
    judgements: int = 1

    @property
    def least_cost(self) -> float | None:
        """The cost of the prompts; None without a price."""
        return None if self.price is None else self.price.cost(self.input_tokens, 0)

    @property
    def most_cost(self) -> float | None:
        """The cost if every answer is as long as it may be; None without a price."""
        return None if self.price is None else self.price.cost(self.input_tokens, self.output_tokens)


def estimate(task: Task) -> RequestEstimate:
    """RequestEstimate what a task asks: requests, tokens, cost. No weights are loaded and nothing is sent.

    Raises:
        AisPromptError: the data cannot be read, or a prompt cannot be made.
    """
    test = task.data.test
    requests = sent = received = 0

    def answer(request: Request) -> Completion:
        nonlocal requests, sent, received
        requests += 1
        sent += _tokens(request)
        if isinstance(request.decoding, Decoding):
            received += request.decoding.max_out_len
            return Completion("", "stop")
        return _NOT_MEASURED

    count = min(len(test), SAMPLES)
    chosen = [test[number * len(test) // count] for number in range(count)]
    if chosen:
        for _ in conversations(task.with_trial_shots(), answer, chosen):
            pass
    scale = len(test) / count if count else 0.0
    judge = None if task.spec.is_baseline else task.dataset.spec.eval.judge
    return RequestEstimate(
        task.name,
        len(test),
        math.ceil(requests * scale),
        math.ceil(sent * scale),
        math.ceil(received * scale),
        task.spec.model.price,
        tuple(model.abbr for model in judge.models) if judge else (),
        2 if judge and judge.baseline else 1,
    )


def exceeded(budget: Budget, estimates: list[RequestEstimate]) -> list[str]:
    """Return which limits of a budget a run would certainly reach, or might reach if its answers are long."""
    kinds = ("requests", "input_tokens", "output_tokens", "least_cost", "most_cost")
    total = {kind: math.fsum(getattr(one, kind) or 0 for one in estimates) for kind in kinds}
    sent = total["input_tokens"]
    found = []
    for name, limit, low, high in (
        ("max_requests", budget.max_requests, total["requests"], total["requests"]),
        ("max_tokens_total", budget.max_tokens_total, sent, sent + total["output_tokens"]),
        ("max_cost", budget.max_cost, total["least_cost"], total["most_cost"]),
    ):
        if limit is not None and high > limit:
            found.append(f"{name}={limit:,} {'is not enough' if low > limit else 'may not be enough'}")
    return found


def _tokens(request: Request) -> int:
    """Return about how many tokens a request sends; loading a tokenizer would take longer than all else."""
    measured = "" if isinstance(request.decoding, Decoding) else request.decoding.continuation or ""
    return approximate_tokens(request.prompt) + approximate_tokens(measured)
