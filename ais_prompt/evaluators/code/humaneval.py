"""Puts the beginning of a function, which was the prompt, and a model's answer together."""

from __future__ import annotations

import re

_INDENT = "    "


def humaneval_program(prompt: str, answer: str, entry_point: str) -> str:
    """The whole function.

    The answer is taken for the body if it does not define the function itself. A body often comes without the
    indentation of its first line, or of all lines, because somebody stripped the text; then it is put back.

    Args:
        prompt: imports, signature and docstring; ends in the middle of the function.
        answer: the body, or the whole function, perhaps with imports and other functions.
        entry_point: the name of the function.
    """
    if re.search(rf"^(?:async +)?def +{re.escape(entry_point)}\b", answer, re.MULTILINE):
        # The prompt alone is a function that does nothing; the answer's, which needs the same imports, replaces it.
        return f"{prompt}\n{answer}"
    return prompt.rstrip(" ") + _indented(answer)


def _indented(body: str) -> str:
    first, newline, rest = body.partition("\n")
    if first[:1].isspace() or not first:
        return body
    if _lost_indentation_of(first, [line for line in rest.splitlines() if line.strip()]):
        return _INDENT + first + newline + rest
    return "\n".join(_INDENT + line if line.strip() else line for line in body.split("\n"))


def _lost_indentation_of(first: str, rest: list[str]) -> bool:
    """Whether only the first line of a body has lost its indentation: all others still have theirs."""
    if not rest or not all(line.startswith(_INDENT) for line in rest):
        return False
    # What follows a colon is one step deeper than its line, so it tells how deep that was.
    is_deeper = rest[0].startswith(2 * _INDENT)
    return is_deeper or not first.rstrip().endswith(":")
