"""Compare mathematical answers in a process of its own (`ais_prompt.utils.worker`), with a limit on its memory."""

from __future__ import annotations

import logging
import os
import pickle
import re
from pathlib import Path
from typing import Any

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

from ais_prompt.utils.worker import serve

MEMORY = 4 * 2**30
"""Maximum number of bytes of address space: ``9^{9^{9^9}}`` is a short answer."""
_MARKS = ("$", "\\(", "\\[", "\\boxed")
# The library reads every dollar as the end of a formula, and knows no other currency.
_CURRENCY = re.compile(r"(?:\\\$|\\(?:pounds|euro|yen|textdollar|texteuro)(?![A-Za-z])|[€£¥￥])\s*")
# 1\,000 and 1\ 000; it knows 1,000 and 1{,}000 itself.
_THOUSANDS = re.compile(r"(?<=\d)(?:\\[,:;! ]|~|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))")


def answer(message: bytes) -> bool:
    """Return whether a pickled pair of gold answer and answer is equal."""
    gold, given = pickle.loads(message)
    try:
        return is_equal(gold, given)
    except Exception:  # sympy raises any exception; unreadable answers are not equal
        return False


def is_equal(gold: str, answer: str) -> bool:
    """Return whether two answers are the same text or provably the same mathematics."""
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
    """Return the text without currency signs, and without spaces between thousands."""
    return _THOUSANDS.sub("", _CURRENCY.sub("", text))


def _bare(text: str) -> str:
    return "".join(text.strip("$. ").split())


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _silence() -> None:
    """Hide what the libraries write, such as a warning at every comparison that it has no time limit."""
    logging.disable(logging.WARNING)
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 2)


if __name__ == "__main__":
    _limit_memory()
    _silence()
    serve(answer)
