"""Apply regular expressions of a log, which may come from anybody: their time and memory are bounded.

The package ``regex`` has a time limit. It reads patterns as ``re`` does, but for ``(…){e}`` and ``[[:alpha:]]``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

import regex

from ais_prompt.errors import ConfigError, PartError

MOST_SECONDS: Final = 1.0
"""Most processor time of a pattern on one answer."""
MOST_REPEATS: Final = 100_000
"""Highest product of the counts of a pattern, such as 1,000 for ``(a{10}){100}``: ``regex`` writes repeats out."""
LONGEST: Final = 10_000
"""Most characters of a pattern."""
MOST_SETS: Final = 200
"""Most sets such as ``[a-z]``: without case Python looks at each character of each, before any time limit."""

Found = TypeVar("Found")


def apply_pattern(pattern: str, use: Callable[[Any, float], Found]) -> Found:
    """Return what ``use`` makes of a compiled pattern and the time limit in seconds.

    Raises:
        ConfigError: it is no regular expression, or too large.
        PartError: it took too long.
    """
    try:
        return use(compiled(pattern), MOST_SECONDS)
    except TimeoutError:
        why = f"the pattern {pattern[:200]!r} takes more than {MOST_SECONDS:g} s on an answer"
        fix = "score by a rule of your own: aisprompt score RUN --config CONFIG"
        raise PartError(f"the rule of the tool cannot be computed: {why}", fix=fix) from None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """Return a pattern of the package ``regex``.

    Raises:
        ConfigError: it is no regular expression of Python, or too large.
    """
    try:
        if len(pattern) > LONGEST:
            raise OverflowError(f"it has more than {LONGEST:,} characters")
        if pattern.count("[") > MOST_SETS:
            raise OverflowError(f"it has more than {MOST_SETS} sets")
        re.compile(pattern)
        counts = (re.findall("[0-9]+", found) for found in re.findall(r"\{([0-9,\s]+)", pattern))
        if math.prod(max(map(int, found), default=1) or 1 for found in counts) > MOST_REPEATS:
            raise OverflowError(f"it repeats more than {MOST_REPEATS:,} times")
        return regex.compile(pattern)
    except (re.error, regex.error, RecursionError, OverflowError, ValueError) as error:
        what = f"the regular expression {pattern[:200]!r} cannot be used: {error}"
        raise ConfigError(what, fix="correct or shorten it") from None
