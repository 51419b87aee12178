"""Regular expressions that are compiled when they are first used: a run uses few of those that its modules have."""

from __future__ import annotations

import re
from typing import Any, cast


class LatePattern:
    """Stands in for a pattern: each method is that of the compiled pattern from its first use on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)  # found without this function from now on
        return value


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, for the constants of a module; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", LatePattern(pattern, flags))
