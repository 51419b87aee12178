r"""The content of ``\boxed{...}``, with which a solution marks its result."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r"(?P<box>\\f?box(?:ed)?\s*\{)|\\.|[{}]", re.DOTALL)


def last_boxed(text: str) -> str | None:
    r"""Return what the last ``\boxed{}`` or ``\fbox{}`` holds; None if there is none, or its braces never close.

    >>> last_boxed(r"\boxed{1} or rather \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    """
    spans = boxed_spans(text)
    return text[slice(*spans[-1])].strip() if spans else None


def boxed_spans(text: str) -> list[tuple[int, int]]:
    """Return where the content of each box begins and ends, in order; of boxes in boxes the innermost.

    Every brace is looked at once, so text of any kind takes linear time.
    """
    found: list[tuple[int, int]] = []
    open_braces: list[int | None] = []  # where the content of a box begins; None for other braces
    for token in _TOKEN.finditer(text):
        if token["box"]:
            open_braces.append(token.end())
        elif token.group() == "{":
            open_braces.append(None)
        elif token.group() == "}" and open_braces:
            start = open_braces.pop()
            if start is not None and not (found and found[-1][0] > start):
                found.append((start, token.start()))
    return found
