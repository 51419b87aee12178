"""Values as they are written on the command line."""

from __future__ import annotations

import ast
from typing import Any


def parse_literal(text: str) -> Any:
    """The plain Python value that a text stands for (``64``, ``None``, ``['a', 'b']``), or else the text itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return value if _is_plain(value) else text


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, str | int | float | None)
