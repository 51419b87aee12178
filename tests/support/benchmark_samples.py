"""Rows of our own in the form of each benchmark, ``tests/benchmarks/NAME.json``, and how to bring them.

A sample has ``rows``, ``CONFIGURATION/SPLIT`` of the hub → rows, or ``files``, path → objects, one a line; and
``configs``, config → what a scripted model answers, and the score that follows:

- ``answers``: expression found in the question → answer;
- ``named``: the same, with the text of a choice in place of its letter, whose order the card decides;
- ``likely``: expressions of the texts that are likely; all others are not;
- ``judge``: expression found in the judge's prompt → verdict; ``[[C]]``, a tie, to all others;
- ``baseline``: answers of a second model, with which those of the first are compared;
- ``right``: for rows that a reader makes, how many get their gold as the answer. ``made`` has arguments for the reader
  then, in place of rows.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ais_prompt.extensions.benchmarks.get import get

FOLDER = Path(__file__).parents[1] / "benchmarks"
NAMES = sorted(file.stem for file in FOLDER.glob("*.json"))


@cache
def sample(name: str) -> dict[str, Any]:
    """The sample of a benchmark."""
    return dict(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


def bring(name: str, folder: Path) -> None:
    """Write the rows of a sample as a repository of the hub has them, and let `data get` bring them.

    Args:
        name: the benchmark.
        folder: an empty folder for its files.
    """
    for place, rows in sample(name).get("files", {}).items():
        file = folder / name / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    for place, rows in sample(name).get("rows", {}).items():
        file = folder / name / place / "0000.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), file)
    if "made" not in sample(name):
        get(name, folder / name)


CONFIGS = sorted((name, config) for name in NAMES for config in sample(name)["configs"])
"""Benchmark and config, of all samples."""
