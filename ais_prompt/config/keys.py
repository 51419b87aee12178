"""The names that a config may use at its top level, and advice for a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

TOP_KEYS: Final = (
    "models",
    "datasets",
    "summarizer",
    "gates",
    "work_dir",
    "run_name",
    "cache",
    "custom_imports",
    "paths_relative_to",
)
"""What is read of a config; every other variable at its top level is a helper of its own.

``run_name`` names the folder below ``work_dir`` (default: the file's name), and relative data paths are looked up in
``paths_relative_to`` (default: the config's folder). A run writes both into its own ``config.py``, so that this file
means the same wherever it lies. ``cache`` is a folder of answers that runs share.
"""


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
    return f"known: {', '.join(names)}" if names else ""
