"""Numbers that JSON does not know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def finite(value: float | None) -> float | None:
    """The number; None for NaN and infinity, which browsers do not read."""
    return value if value is not None and math.isfinite(value) else None


def finite_json(value: Any) -> Any:
    """A JSON value with None in place of NaN and infinity, however deep they lie."""
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, Mapping):
        return {name: finite_json(item) for name, item in value.items()}
    return [finite_json(item) for item in value] if isinstance(value, list) else value
