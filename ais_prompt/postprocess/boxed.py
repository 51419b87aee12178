r"""The content of ``\boxed{...}``, with which a solution marks its result."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r"(?P<box>\\f?box(?:ed)?\s*\{)|\\.|[{}]", re.DOTALL)


def last_boxed(text: str) -> str | None:
    r"""What the last ``\boxed{}`` or ``\fbox{}`` of a text holds; None if there is none, or its braces never close.

    Of boxes in boxes the innermost counts. Every brace is looked at once, so text of any kind takes linear time.

    >>> last_boxed(r"\boxed{1} or rather \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    """
    found: tuple[int, int] | None = None
    open_braces: list[int | None] = []  # where the content of a box begins; None for other braces
    for token in _TOKEN.finditer(text):
        if token["box"]:
            open_braces.append(token.end())
        elif token.group() == "{":
            open_braces.append(None)
        elif token.group() == "}" and open_braces:
            start = open_braces.pop()
            if start is not None and (found is None or start > found[0]):
                found = start, token.start()
    return text[slice(*found)].strip() if found else None
