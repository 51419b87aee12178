"""Compare mathematical answers in a process of its own (`ais_prompt.utils.worker`), with a limit on its memory."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from ais_prompt.evaluators.math.equal import is_equal
from ais_prompt.utils.worker import serve

MEMORY = 4 * 2**30
"""Maximum number of bytes of address space: ``9^{9^{9^9}}`` is a short answer."""


def answer(message: bytes) -> bytes:
    """Return whether a gold answer and an answer are equal: a list of two texts, and a flag, in JSON."""
    gold, given = json.loads(message)
    try:
        return json.dumps(bool(is_equal(gold, given))).encode()
    except Exception:  # sympy raises any exception; unreadable answers are not equal
        return b"false"


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
