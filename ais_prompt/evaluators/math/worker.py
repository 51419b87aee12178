"""Compares mathematical answers in a process of its own, which can be stopped. It is run as a file, not imported.

It reads ``[gold, answer]`` as one JSON line after another, and answers each with ``true`` or ``false``.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from typing import Any

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

MEMORY = 4 * 2**30
"""Most bytes of address space: ``9^{9^{9^9}}`` is a short answer."""
_MARKS = ("$", "\\(", "\\[", "\\boxed")
# The library takes every dollar for the end of a formula, and knows no other currency.
_CURRENCY = re.compile(r"(?:\\\$|\\(?:pounds|euro|yen|textdollar|texteuro)(?![A-Za-z])|[€£¥￥])\s*")
# 1\,000 and 1\ 000; it knows 1,000 and 1{,}000 itself.
_THOUSANDS = re.compile(r"(?<=\d)(?:\\[,:;! ]|~|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))")


def main() -> None:
    """Answer until the input ends."""
    _limit_memory()
    # The library says for every comparison that it has no time limit; that is the matter of the caller.
    logging.disable(logging.WARNING)
    for line in sys.stdin:
        gold, answer = json.loads(line)
        try:
            equal = is_equal(gold, answer)
        except Exception:  # sympy raises whatever it likes; what it cannot read is not known to be equal
            equal = False
        print(json.dumps(equal), flush=True)


def is_equal(gold: str, answer: str) -> bool:
    """Whether two answers are the same text or, as far as can be told, the same mathematics."""
    gold, answer = _plain_numbers(gold), _plain_numbers(answer)
    if _bare(gold) == _bare(answer):
        return True
    # The order matters: the gold may be an expression that the answer has simplified, not the other way round.
    return bool(verify(_parsed(gold), _parsed(answer), timeout_seconds=None))


def _parsed(text: str) -> list[Any]:
    wrapped = text if any(mark in text for mark in _MARKS) else f"${text}$"
    configs = [LatexExtractionConfig(), ExprExtractionConfig()]
    found: list[Any] = parse(wrapped, configs, parsing_timeout=None) or parse(text, configs, parsing_timeout=None)
    return found


def _plain_numbers(text: str) -> str:
    """The text without signs of currency, and without spaces between thousands."""
    return _THOUSANDS.sub("", _CURRENCY.sub("", text))


def _bare(text: str) -> str:
    return "".join(text.strip("$. ").split())


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    main()
