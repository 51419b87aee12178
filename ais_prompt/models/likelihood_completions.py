"""Completions of log-likelihoods, the same for all models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ais_prompt.types import Completion, Failure, Likelihood, Usage

NO_TOKENS: Final = Completion(failure=Failure("no_tokens", "there is no token whose likelihood could be computed"))
"""The completion of an empty text, and of a prompt of one token."""


def likelihood_completion(likelihood: Likelihood, usage: Usage, seconds: float = 0.0) -> Completion:
    """Return the completion of a log-likelihood; NaN is a failure."""
    if any(math.isnan(value) for value in (likelihood.nll, *likelihood.choices)):
        return Completion(failure=Failure("not_a_number", "the model computed NaN instead of a likelihood"))
    return Completion(finish_reason="stop", usage=usage, seconds=seconds, likelihood=likelihood)


def measured_bytes(text: str, first_token: str) -> int:
    """Return the length in UTF-8 of a text without its first token, which has no likelihood.

    Args:
        text: the whole text.
        first_token: its text; empty if it is a special token. Nothing is left out if the text does not begin with it,
            as with a part of a character or a special token that a server tells.
    """
    return len(text.removeprefix(first_token).encode("utf-8", "surrogatepass"))


def common_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Count the tokens that two rows have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
