"""From the log-probabilities of a text's tokens, as somebody else has computed them, to a likelihood.

What is scored and counted is the same as for local models (`ais_prompt.models.huggingface.scoring`).
"""

from __future__ import annotations

from math import fsum
from typing import Any, Final, TypeGuard

from msgspec import Struct

from ais_prompt.models.likelihood import NO_TOKENS, common_length, scored
from ais_prompt.types import Completion, Failure, Likelihood, Usage

_IMPOSSIBLE: Final = -9999.0
"""What vLLM writes for minus infinity, which JSON does not have."""

_ROUNDING: Final = 1e-3
_SAME_TOKEN: Final = 0.5
"""How far apart the log-probabilities of one token in one place may lie in two replies, in nats."""


class TextScores(Struct, frozen=True):
    """A text in the tokens of the model, with those that it puts in front.

    Attributes:
        tokens: id or text of each, by which the tokens of two texts are compared; "" for one that is not told.
        log_probs: of each in nats, as it was told; the first has none. They may be anything, see `is_log_prob`.
    """

    tokens: tuple[str, ...]
    log_probs: tuple[Any, ...]


EMPTY: Final = TextScores((), ())


def is_log_prob(value: Any) -> TypeGuard[float]:
    """True for a number that can be the log-probability of a token that the model holds possible."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _IMPOSSIBLE < value <= _ROUNDING


def whole(text: str, scores: TextScores) -> Completion:
    """The likelihood of all tokens but the first."""
    return _likelihood(text, scores, start=1, all_tokens=len(scores.tokens))


def continuation(text: str, before: TextScores, scores: TextScores) -> Completion:
    """The likelihood of the tokens that a continuation adds.

    Args:
        text: the continuation.
        before: of the prompt alone.
        scores: of prompt and continuation together.
    """
    common = _common_tokens(before, scores)
    start = max(common, 1)
    merged = common < len(before.tokens)
    return _likelihood(text, scores, start=start, all_tokens=len(scores.tokens) - start, merged=merged)


def single_token(choice: str, before: TextScores, scores: TextScores) -> float | Failure:
    """The log-probability of a choice, which must be the only token that it adds to the prompt.

    Args:
        choice: its text, for the words of a failure.
        before: of the prompt alone.
        scores: of prompt and choice together.
    """
    if _common_tokens(before, scores) < len(before.tokens):
        return Failure("merged_choice", f"the choice {choice!r} and the end of the prompt become one token")
    added = len(scores.tokens) - len(before.tokens)
    if added != 1:
        words = f"the choice {choice!r} is {added} tokens long; only single tokens can be compared"
        return Failure("long_choice", words, fatal=True)
    value = scores.log_probs[-1]
    return value if is_log_prob(value) else _no_number(scores, len(scores.tokens) - 1)


def _likelihood(text: str, scores: TextScores, *, start: int, all_tokens: int, merged: bool = False) -> Completion:
    values = scores.log_probs[start:]
    if not text or not values:
        return NO_TOKENS
    for number, value in enumerate(values, start):
        if not is_log_prob(value):
            return Completion(failure=_no_number(scores, number))
    length = len(text.encode("utf-8", "surrogatepass"))
    usage = Usage(len(scores.tokens), 0)
    return scored(Likelihood(-fsum(values), len(values), all_tokens, length, merged=merged), usage)


def _no_number(scores: TextScores, number: int) -> Failure:
    told = repr(scores.log_probs[number])[:50]
    words = f"token {number + 1} of {len(scores.tokens)} has no log-probability that could be used: {told}"
    return Failure("not_a_number", words)


def _common_tokens(first: TextScores, second: TextScores) -> int:
    """How many tokens two texts have in common at their beginning.

    The parts of a character have no text of their own to tell them apart; the same part is equally likely.
    """
    common = common_length(first.tokens, second.tokens)
    for number in range(common):
        a, b = first.log_probs[number], second.log_probs[number]
        nameless = not first.tokens[number] or "\ufffd" in first.tokens[number]
        if nameless and is_log_prob(a) and is_log_prob(b) and abs(a - b) > _SAME_TOKEN:
            return number
    return common
