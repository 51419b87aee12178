"""Compare what two models answered: likelihoods of texts, tokens of prompts, and answers drawn at a temperature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from ais_prompt.metrics.equality import answer_kernel, blocks, detectable_share, number_kernel, same_test
from ais_prompt.metrics.paired import LEVEL
from ais_prompt.types import Prediction
from ais_prompt.utils.text import counted

RESOLUTION: Final = 1e-4
"""Differences of log-likelihoods, in nats per token, that count as rounding."""
TESTS: Final = 2
"""Likelihoods and answers; each test has its part of the level."""

Answers = Mapping[str, Prediction]
"""Sample id → what a model answered."""


class ModelFinding(Struct, frozen=True):
    """What was found about one side of two models.

    Attributes:
        subject: what was compared.
        differs: whether a difference was found; None if it could not be compared.
        text: what was found, in words.
        p: of the test, uncorrected; None without a test.
        detectable: smallest share of foreign answers that would have been found in 80 % of trials.
    """

    subject: Literal["likelihoods", "prompts", "answers"]
    differs: bool | None
    text: str
    p: float | None = None
    detectable: float | None = None


def compare_prompts(first: Answers, second: Answers) -> ModelFinding:
    """Compare how many tokens the same prompts have: another template, system prompt or BOS shows."""
    gaps = []
    for sample in first.keys() & second.keys():
        tokens = [_prompt_tokens(side[sample]) for side in (first, second)]
        if None not in tokens:
            gaps.append(tokens[1] - tokens[0])  # type: ignore[operator]  # none is None
    if not gaps:
        return ModelFinding("prompts", None, "a side does not count the tokens of prompts")
    if not any(gaps):
        return ModelFinding("prompts", False, f"{counted(len(gaps), 'prompt')} have as many tokens on both sides")
    low, high = min(gaps), max(gaps)
    range_ = f"{low:+d}" if low == high else f"{low:+d} to {high:+d}"
    why = "a template, system prompt or BOS differs" if low == high else "the tokenizers or templates differ"
    return ModelFinding("prompts", True, f"the prompts of the second have {range_} tokens: {why}")


def compare_answers(first: Answers, second: Answers) -> ModelFinding:
    """Compare the answers to the same prompts by the two-sample test of `ais_prompt.metrics.equality`."""
    both = [(_texts(first[sample]), _texts(second[sample])) for sample in first if sample in second]
    count = min((min(map(len, pair)) for pair in both), default=0)
    if len(both) < 2 or count < 2:
        return ModelFinding("answers", None, "too few answers: two prompts with two answers each are needed")
    kernel = answer_kernel([text for pair in both for side in pair for text in side[:count]], len(both))
    p = same_test(blocks(kernel, len(both)), count)
    shown = f"{counted(len(both), 'prompt')} × {count} answers, p {p:.2g}"
    if p <= LEVEL / TESTS:
        return ModelFinding("answers", True, f"{shown}: they come from different distributions", p)
    share = detectable_share(kernel, len(both), count, LEVEL / TESTS)
    found = "and none would be found" if share is None else f"{share:.0%} foreign answers would be found"
    return ModelFinding("answers", False, f"{shown}: no difference is shown; {found}", p, share)


def compare_likelihoods(first: Sequence[Answers], second: Sequence[Answers]) -> ModelFinding:
    """Compare the log-likelihoods of texts, each of which was asked twice."""
    values = []
    for sample in first[0]:
        found = [_per_token(side.get(sample)) for side in (*first, *second)]
        if None not in found:
            values.append(found)
    if not values:
        return ModelFinding("likelihoods", None, "a side gives no likelihoods")
    numbers = np.array(values, np.float64)
    noise = float(np.abs(numbers[:, [0, 2]] - numbers[:, [1, 3]]).mean())
    gap = float(np.abs(numbers[:, :2].mean(axis=1) - numbers[:, 2:].mean(axis=1)).mean())
    p = same_test(np.stack([number_kernel(row, RESOLUTION) for row in numbers.tolist()]), 2)
    shown = f"{counted(len(values), 'text')}: {gap:.2g} nats a token apart, {noise:.2g} when asked again, p {p:.2g}"
    differs = p <= LEVEL / TESTS
    return ModelFinding("likelihoods", differs, f"{shown}: {'they differ' if differs else 'no difference is shown'}", p)


def by_sample(predictions: Iterable[Prediction]) -> Answers:
    """Return predictions by their sample, without those that failed."""
    return {one.sample_id: one for one in predictions if not one.failed}


def _texts(prediction: Prediction) -> list[str]:
    return [one.reasoning + one.text for one in prediction.completions if one.failure is None]


def _prompt_tokens(prediction: Prediction) -> int | None:
    return next((one.usage.prompt_tokens for one in prediction.completions if one.usage.prompt_tokens), None)


def _per_token(prediction: Prediction | None) -> float | None:
    """Return the log-likelihood of a text per token, in nats."""
    found = None if prediction is None else next(iter(prediction.completions)).likelihood
    return None if found is None or not found.tokens else -found.nll / found.tokens
