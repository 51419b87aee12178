"""A tracker that keeps the scores of all runs in one file."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ais_prompt import Row


def finished(folder: Path, rows: Sequence[Row]) -> None:
    """Note the scores of a run."""
    if "WORDS_TRACKER" not in os.environ:
        raise RuntimeError("no tracker is set")
    with Path(os.environ["WORDS_TRACKER"]).open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({"run": folder.name, "dataset": row.dataset, "score": row.score}) + "\n")
