"""The line of a user's file in which an error arose."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

from ais_prompt.config.syntax import place


def last_line_in(error: BaseException, is_users: Callable[[Path], bool]) -> str:
    """``file:line`` of the innermost frame in one of the user's files; empty if there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_users(Path(frame.filename)):
            return place(Path(frame.filename), frame.lineno)
    return ""
