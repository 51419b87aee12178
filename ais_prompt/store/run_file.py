"""Read ``run.json``, and sort runs by it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import StoreError
from ais_prompt.store.layout import RUN_NAME, RunFolder
from ais_prompt.store.results import read_json
from ais_prompt.store.shapes import RunFile, check_shape

SCHEMA_VERSION: Final = 2
"""Version of run folders. Version 1 does not write it; its keys contain the id of the row and the address."""

_FIX: Final = "undo the change to that file, or start a new run without -r"


def read_run_file(folder: RunFolder) -> dict[str, Any]:
    """Read ``run.json`` of a run of this version or an earlier one.

    Raises:
        StoreError: it is missing or broken, or a later version wrote it.
    """
    record = read_json(folder.run_file)
    version = record.get("schema_version", 1)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise StoreError(
            f"a later version of ais-prompt wrote this run: its schema_version is {version}, known is {SCHEMA_VERSION}",
            where=str(folder.run_file),
            fix="use that version, or a later one",
        )
    try:
        check_shape(record, RunFile)
    except ValueError as error:
        raise StoreError(
            f"run.json is not as this program writes it: {error}", where=str(folder.run_file), fix=_FIX
        ) from None
    return record


def in_order(runs: Sequence[Path]) -> list[Path]:
    """Sort the run folders of one config from oldest to newest.

    A run gets a number above those of the runs that exist when it starts, so neither a clock that is set back nor
    another time zone changes the order. Earlier versions wrote no number: such runs come first, by their start.
    A run whose ``run.json`` cannot be read is last, so that the error is shown.
    """
    return sorted(runs, key=_place)


def next_number(folder: RunFolder) -> int:
    """Return one more than the highest number of the other runs of the same config."""
    others = [path for path in folder.root.resolve().parent.iterdir() if RUN_NAME.fullmatch(path.name)]
    return 1 + max((int(number) for path in others if math.isfinite(number := _place(path)[0])), default=0)


def started(root: Path) -> tuple[float, float, int]:
    """Return the sort key of a run among those of all configs: its start, and its place among those of its own."""
    number, start, suffix = _place(root)
    return start, number, suffix


def _place(root: Path) -> tuple[float, float, int]:
    """Return the sort key of a run: its number, its start in seconds since 1970, and the suffix of its name."""
    name = RUN_NAME.fullmatch(root.name)
    suffix = int(name["suffix"] or 1) if name else 1
    folder = RunFolder(root)
    if not folder.run_file.exists():
        return 0, _start_by_name(root.name), suffix
    try:
        record = read_run_file(folder)
        start = datetime.fromisoformat(record["sessions"][0]["started"]).timestamp()
        return int(record.get("run_number", 0)), start, suffix
    except (StoreError, ValueError, LookupError, TypeError, OverflowError):
        return math.inf, math.inf, suffix


def _start_by_name(name: str) -> float:
    """Return the start in the name of a folder: UTC with a ``Z``, local time without it, as in earlier versions."""
    found = RUN_NAME.fullmatch(name)
    try:
        start = datetime.strptime(found["start"], "%Y%m%d_%H%M%S") if found else datetime.min
        return (start.replace(tzinfo=UTC) if found and found["utc"] else start).timestamp()
    except (ValueError, OverflowError):  # 20260231_000000 is not a time
        return 0
