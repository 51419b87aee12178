"""What the answers of a variant take (tokens, seconds, cost), and which variants give most for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ais_prompt.comparison import ScoredTask
from ais_prompt.extensions.variants.variant_group import UNITS, Spent
from ais_prompt.models import approximate_tokens
from ais_prompt.store import read_predictions
from ais_prompt.types import ChatMessage, Prompt


def spent_on(task: ScoredTask) -> Spent:
    """Return what the answers of a task take, without those of a judge.

    Raises:
        StoreError, DataError: its predictions are missing or broken.
    """
    path = task.folder.predictions(task.model, task.dataset)
    questions, seconds, sent, received, thinking = 0, 0.0, 0, 0, 0
    has_thinking = estimated = False
    for prediction in read_predictions(path, with_prompts=False):
        questions += 1
        for one in prediction.completions:
            seconds += one.seconds
            usage = one.usage
            estimated |= one.failure is None and None in (usage.prompt_tokens, usage.completion_tokens)
            sent += usage.prompt_tokens or 0
            received += usage.completion_tokens or 0
            has_thinking |= usage.reasoning_tokens is not None
            thinking += usage.reasoning_tokens or 0
    if not questions:
        return Spent()
    if estimated:
        sent, received = _estimated_tokens(path)
    price = task.spec.model.price
    return Spent(
        tokens=(sent + received) / questions,
        thinking=thinking / questions if has_thinking else None,
        seconds=seconds / questions if seconds else None,
        cost=price.cost(sent, received) / questions if price else None,
        currency=price.currency if price else "",
        estimated=estimated,
    )


def _estimated_tokens(path: Path) -> tuple[int, int]:
    """Return the tokens of prompts and answers, estimated where they were not counted."""
    sent = received = 0
    for prediction in read_predictions(path):
        origin = prediction.origin_prompt
        is_single = isinstance(origin, str) or all(isinstance(one, ChatMessage) for one in origin)
        prompts = cast("tuple[Prompt, ...]", (origin,) if is_single else origin)
        for number, one in enumerate(prediction.completions):
            usage = one.usage
            if usage.prompt_tokens is not None:
                sent += usage.prompt_tokens
            elif one.failure is None:
                sent += approximate_tokens(prompts[min(number, len(prompts) - 1)])
            told = usage.completion_tokens
            received += approximate_tokens(one.reasoning + one.text) if told is None else told
    return sent, received


def on_front(score: float, spent: Spent, points: Sequence[tuple[float, Spent]]) -> tuple[str, ...]:
    """Return the units in which no point has as good a score for less, or a better score for as little.

    Args:
        score: more is better.
        spent: of the same point.
        points: score and spending of all points.
    """
    return tuple(
        unit
        for unit in UNITS
        if (amount := getattr(spent, unit)) is not None
        and not any(
            other >= score and taken <= amount and (other > score or taken < amount)
            for other, of_other in points
            if (taken := getattr(of_other, unit)) is not None
        )
    )
