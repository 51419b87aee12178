"""Advice for a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ais_prompt.utils.text import listed


def near_miss(name: str, candidates: Iterable[object]) -> str | None:
    """The candidate that looks like a misspelling of ``name``; None if there is none."""
    near = difflib.get_close_matches(name, [item for item in candidates if isinstance(item, str)], n=1, cutoff=0.8)
    return near[0] if near else None


def advice(name: str, known: Iterable[object]) -> str:
    """The nearest known name as a question, or the list of all known names."""
    names = [str(item) for item in known]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {listed(names)}" if names else ""
