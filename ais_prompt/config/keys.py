"""Suggest what to write instead of an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ais_prompt.utils.text import listed


def near_miss(name: str, candidates: Iterable[object]) -> str | None:
    """Return the candidate that ``name`` seems to be a misspelling of; None if there is none."""
    near = difflib.get_close_matches(name, [item for item in candidates if isinstance(item, str)], n=1, cutoff=0.8)
    return near[0] if near else None


def advice(name: str, known: Iterable[object]) -> str:
    """Return the nearest known name as a question, or the list of all known names."""
    names = [str(item) for item in known]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {listed(names)}" if names else ""
