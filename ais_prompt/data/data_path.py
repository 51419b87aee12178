"""Find data files by path; extensions know further places, and ids."""

from __future__ import annotations

from pathlib import Path

from ais_prompt.config import expand
from ais_prompt.errors import DataError
from ais_prompt.steps import steps
from ais_prompt.utils import listed


def find_data(path: str) -> Path | None:
    """Return the file or folder that a path or id means; None if it is nowhere.

    Args:
        path: an absolute path, a relative one such as ``./data/gpqa/``, or an id that an extension knows.
    """
    return next((place for place in data_places(path) if place.exists()), None)


def require_data(path: str) -> Path:
    """Return what `find_data` finds.

    Raises:
        DataError: it is nowhere; the error lists the places, and how to get it.
    """
    found = find_data(path)
    if found is None:
        raise missing_data(path)
    return found


def data_places(path: str) -> list[Path]:
    """Return the places where a path or id may be, the first that exists counts."""
    return _known(path)[0]


def missing_data(path: str) -> DataError:
    """Return the error for data that are nowhere."""
    places, fix = _known(path)
    return DataError(f"no data for {path!r}", where=f"looked for {listed(map(str, places))}", fix=fix)


def _known(path: str) -> tuple[list[Path], str]:
    """Return the places of data, and how to get them."""
    known = [found for find in steps("find_data") if (found := find(path)) is not None]
    if not known:
        return [expand(path)], "put it there"
    return [place for places, _ in known for place in places], "; or ".join(fix for _, fix in known)
