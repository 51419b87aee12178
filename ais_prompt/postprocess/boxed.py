r"""What marks a result for programs: ``\boxed{...}``, ``<answer>...</answer>``, and ``"answer": ...`` in JSON."""

from __future__ import annotations

import re
from typing import Final

_TAGGED: Final = re.compile(r"<(answer|答案)>((?:(?!<).){0,2000})</\1>", re.DOTALL | re.IGNORECASE)
_KEYED: Final = re.compile(
    r"""["'](?:final_?|correct_?)?(?:answer|choice|result|答案|最终答案)["']\s*:\s*(?:"([^"\n]{0,500})"|'([^'\n]{0,500})'|([^"'\s,{}\[\]]{1,80}(?:,\d{3}\b)*))""",
    re.IGNORECASE,
)
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


def marked_spans(text: str) -> list[tuple[str, int, int]]:
    """Return name and place of the content of every mark, in order."""
    found = [("boxed", *span) for span in boxed_spans(text)]
    found += [("<answer>", *tag.span(2)) for tag in _TAGGED.finditer(text)]
    found += [("JSON", *pair.span(pair.lastindex or 0)) for pair in _KEYED.finditer(text)]
    return sorted(found, key=lambda mark: mark[1])
