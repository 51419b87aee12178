"""How likely each rating was at the place of the rating in a judge's reply, for G-Eval's weighted scale."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from ais_prompt.extensions.rubrics.rubric_replies import read_mark
from ais_prompt.types import GeneratedToken

MOST_RATING: Final = 9
"""A rating of several digits may be several tokens, and the first of them that of another rating."""
_DIGIT: Final = re.compile(r"[^\w-]*(\d)[^\w]*")


def weights_of_rating(text: str, tokens: Sequence[GeneratedToken]) -> dict[str, float] | None:
    """Return rating → its probability in the place of the rating that a reply gives, which comes first.

    The place is that of the only digit whose change changes what the reply is read as. Tokens with the same digit, such
    as ``4`` and `` 4``, are added.

    >>> four = GeneratedToken(" 4", -0.5, {" 4": -0.5, " 5": -1.0, "5": -9.0})
    >>> {rating: round(weight, 3) for rating, weight in weights_of_rating("Rating: 4", [four]).items()}
    {'4': 0.607, '5': 0.368}

    Args:
        text: the reply.
        tokens: what the judge generated; it may begin before the text, and end after it.

    Returns:
        None if the reply gives no rating of one digit, or it is not clear which token that is.
    """
    found = [token for token, begin in _digits(text, tokens) if _decides(text, begin)]
    if len(found) != 1:
        return None
    [token] = found
    weights = {_digit_of(token.text): 0.0}
    for other, log_prob in {token.text: token.log_prob, **token.alternatives}.items():
        if digit := _digit_of(other):
            weights[digit] = weights.get(digit, 0.0) + math.exp(log_prob)
    return weights


def _digit_of(text: str) -> str:
    found = _DIGIT.fullmatch(text)
    return found[1] if found else ""


def _digits(text: str, tokens: Sequence[GeneratedToken]) -> Iterator[tuple[GeneratedToken, int]]:
    """Yield each token that is a digit, with its place in the text. The text is at the end of the tokens."""
    whole = "".join(token.text for token in tokens)
    start = whole.rfind(text.strip())
    place = (len(text) - len(text.lstrip())) - start
    for token in tokens if start >= 0 else ():
        if (digit := _digit_of(token.text)) and 0 <= (begin := place + token.text.index(digit)) < len(text):
            yield token, begin
        place += len(token.text)


def _decides(text: str, begin: int) -> bool:
    """Return whether the digit at a place is what the reply is read as."""
    digit = int(text[begin])

    def read_with(other: int) -> object:
        return read_mark(f"{text[:begin]}{other}{text[begin + 1 :]}")

    near = [other for other in (digit - 1, digit + 1) if 0 <= other <= MOST_RATING]
    return read_with(digit) == digit and any(read_with(other) == other for other in near)
