"""What the answers of a variant take (tokens, seconds, cost), and which variants give most for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.store import read_predictions

UNITS: Final = ("tokens", "thinking", "seconds", "cost")
"""What an answer takes, in the order in which it is shown."""


class Spent(Struct, frozen=True):
    """What the answer to a question takes on average; None where it is not known.

    Attributes:
        tokens: of prompt and answer, thinking included.
        thinking: tokens of the reasoning, as the server counts them.
        seconds: from sending a request to the end of its answer, of all requests of the question.
        cost: in ``currency``, for a model with a price.
        estimated: whether the tokens of an answer were not counted by the server or the tokenizer.
    """

    tokens: float | None = None
    thinking: float | None = None
    seconds: float | None = None
    cost: float | None = None
    currency: str = ""
    estimated: bool = False


def spent_on(task: ScoredTask) -> Spent:
    """Return what the answers of a task take, without those of a judge.

    Raises:
        StoreError, DataError: its predictions are missing or broken.
    """
    questions, seconds, counted, thinking = 0, 0.0, [0, 0], 0
    has_tokens, has_thinking = True, False
    for prediction in read_predictions(task.folder.predictions(task.model, task.dataset), with_prompts=False):
        questions += 1
        for one in prediction.completions:
            seconds += one.seconds or 0.0
            usage = one.usage
            if one.failure is not None:
                continue
            if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
                has_tokens = False
                continue
            counted[0] += usage.prompt_tokens
            counted[1] += usage.completion_tokens
            has_thinking |= usage.reasoning_tokens is not None
            thinking += usage.reasoning_tokens or 0
    if not questions:
        return Spent()
    price = task.spec.model.price
    return Spent(
        tokens=sum(counted) / questions if has_tokens else None,
        thinking=thinking / questions if has_thinking else None,
        seconds=seconds / questions if seconds else None,
        cost=price.cost(*counted) / questions if price and has_tokens else None,
        currency=price.currency if price else "",
    )


def on_front(score: float, spent: Spent, points: Sequence[tuple[float, Spent]]) -> tuple[str, ...]:
    """Return the units in which no point has as good a score for less, or a better score for as little.

    Args:
        score: more is better.
        spent: of the same point.
        points: score and spending of all points.
    """
    return tuple(unit for unit in UNITS if _is_on_front(score, getattr(spent, unit), unit, points))


def _is_on_front(score: float, amount: float | None, unit: str, points: Sequence[tuple[float, Spent]]) -> bool:
    if amount is None:
        return False
    known = [(other, taken) for other, spent in points if (taken := getattr(spent, unit)) is not None]
    return not any(other >= score and taken <= amount and (other > score or taken < amount) for other, taken in known)
