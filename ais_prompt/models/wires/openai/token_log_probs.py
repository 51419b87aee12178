"""Log-likelihoods of texts from the log-probabilities of their tokens, as a server returned them.

The same tokens count as for local models (`ais_prompt.models.huggingface.log_probs`).
"""

from __future__ import annotations

from math import fsum
from typing import Any, Final, TypeGuard

from msgspec import Struct

from ais_prompt.models.likelihood import NO_TOKENS, common_length, likelihood_completion, measured_bytes
from ais_prompt.types import Completion, Failure, Likelihood, Usage

_IMPOSSIBLE: Final = -9999.0
"""vLLM writes this for minus infinity, which JSON does not have."""

_ROUNDING: Final = 1e-3
_SAME_TOKEN: Final = 0.5
"""Largest difference of the log-probabilities of one token in one place in two replies, in nats."""


class TokenLogProbs(Struct, frozen=True):
    """A text in the tokens of the model, with the special tokens that it puts in front.

    Attributes:
        tokens: id or text of each token, to compare the tokens of two texts; "" if unknown.
        log_probs: log-probability of each token in nats, as returned; None for the first. Unchecked, see `is_log_prob`.
    """

    tokens: tuple[str, ...]
    log_probs: tuple[Any, ...]


EMPTY: Final = TokenLogProbs((), ())


def is_log_prob(value: Any) -> TypeGuard[float]:
    """Return whether a value can be the log-probability of a token that is possible."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _IMPOSSIBLE < value <= _ROUNDING


def whole(text: str, probs: TokenLogProbs) -> Completion:
    """Return the log-likelihood of all tokens but the first."""
    length = measured_bytes(text, probs.tokens[0] if probs.tokens else "")
    return _likelihood(length, probs, start=1, all_tokens=len(probs.tokens))


def continuation(text: str, before: TokenLogProbs, probs: TokenLogProbs) -> Completion:
    """Return the log-likelihood of the tokens that a continuation adds.

    Args:
        text: the continuation.
        before: the prompt alone.
        probs: prompt and continuation together.
    """
    common = _common_tokens(before, probs)
    start = max(common, 1)
    merged = common < len(before.tokens)
    length = len(text.encode("utf-8", "surrogatepass"))
    return _likelihood(length, probs, start=start, all_tokens=len(probs.tokens) - start, merged=merged)


def single_token(choice: str, before: TokenLogProbs, probs: TokenLogProbs) -> float | Failure:
    """Return the log-probability of a choice, which must add exactly one token to the prompt.

    Args:
        choice: its text, for the message of a failure.
        before: the prompt alone.
        probs: prompt and choice together.
    """
    if _common_tokens(before, probs) < len(before.tokens):
        return Failure("merged_choice", f"the choice {choice!r} and the end of the prompt become one token")
    added = len(probs.tokens) - len(before.tokens)
    if added != 1:
        words = f"the choice {choice!r} is {added} tokens long; only single tokens can be compared"
        return Failure("long_choice", words, fatal=True)
    value = probs.log_probs[-1]
    return value if is_log_prob(value) else _no_number(probs, len(probs.tokens) - 1)


def _likelihood(length: int, probs: TokenLogProbs, *, start: int, all_tokens: int, merged: bool = False) -> Completion:
    values = probs.log_probs[start:]
    if not length or not values:
        return NO_TOKENS
    for number, value in enumerate(values, start):
        if not is_log_prob(value):
            return Completion(failure=_no_number(probs, number))
    usage = Usage(len(probs.tokens), 0)
    return likelihood_completion(Likelihood(-fsum(values), len(values), all_tokens, length, merged=merged), usage)


def _no_number(probs: TokenLogProbs, number: int) -> Failure:
    value = repr(probs.log_probs[number])[:50]
    words = f"token {number + 1} of {len(probs.tokens)} has no usable log-probability: {value}"
    return Failure("not_a_number", words)


def _common_tokens(first: TokenLogProbs, second: TokenLogProbs) -> int:
    """Count the tokens that two texts have in common at their beginning.

    Parts of a character have no text of their own, so their log-probabilities are compared instead.
    """
    common = common_length(first.tokens, second.tokens)
    for number in range(common):
        a, b = first.log_probs[number], second.log_probs[number]
        nameless = not first.tokens[number] or "\ufffd" in first.tokens[number]
        if nameless and is_log_prob(a) and is_log_prob(b) and abs(a - b) > _SAME_TOKEN:
            return number
    return common
