"""Rows of our own in the form of each benchmark, ``samples/NAME.json``, and how to bring them.

A sample has ``rows``, ``CONFIGURATION/SPLIT`` of the hub → rows, or ``files``, path → objects, one a line, or
a text; and ``configs``, config → what a scripted model answers, and the score that follows:

- ``answers``: expression found in the question → answer;
- ``named``: the same, with the text of a choice in place of its letter, whose order the card decides;
- ``likely``: expressions of the texts that are likely; all others are not;
- ``judge``: expression found in the judge's prompt → verdict; ``[[C]]``, a tie, to all others;
- ``baseline``: answers of a second model, with which those of the first are compared;
- ``right``: for rows that a reader makes, how many get their gold as the answer. ``made`` has arguments for the reader
  then, in place of rows.
- ``videos``: files below the folder of all data, which are written as the beginning of an MP4.

A value ``{"colour": "red"}`` in the rows is an image of that colour, as the hub stores it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ais_prompt.extensions.benchmarks.get import get
from ais_prompt.utils import data_root
from tests.support.media import MP4
from tests.support.vision_model import image_bytes

FOLDER = Path(__file__).parent / "samples"
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
        lines = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
        file.write_text(lines, "utf-8")
    for place, rows in sample(name).get("rows", {}).items():
        file = folder / name / place / "0000.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(
            pa.Table.from_pylist([dict(zip(row, map(_value, row.values()), strict=True)) for row in rows]), file
        )
    for place in sample(name).get("videos", ()):
        file = data_root() / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(MP4)
    if "made" not in sample(name):
        get(name, folder / name)


def _value(value: Any) -> Any:
    """A value of a row; an image for its colour."""
    is_image = isinstance(value, dict) and value.keys() == {"colour"}
    return {"bytes": image_bytes(value["colour"]), "path": f"{value['colour']}.png"} if is_image else value


CONFIGS = sorted((name, config) for name in NAMES for config in sample(name)["configs"])
"""Benchmark and config, of all samples."""
