"""Suggest what to write instead of an unknown name."""

from __future__ import annotations

from collections.abc import Iterable

from ais_prompt.utils.text import listed


def near_miss(name: str, candidates: Iterable[object]) -> str | None:
    """Return the candidate that ``name`` seems to be a misspelling of; None if there is none."""
    return _nearest(name, [item for item in candidates if isinstance(item, str)], 0.8)


def advice(name: str, known: Iterable[object]) -> str:
    """Return the nearest known name as a question, or the list of all known names."""
    names = [str(item) for item in known]
    if near := _nearest(name, names, 0.5):
        return f"did you mean {near!r}?"
    return f"known: {listed(names)}" if names else ""


def _nearest(name: str, names: list[str], cutoff: float) -> str | None:
    from difflib import get_close_matches  # only mistakes need it, and `aisprompt list` starts quickly without

    return next(iter(get_close_matches(name, names, n=1, cutoff=cutoff)), None)
