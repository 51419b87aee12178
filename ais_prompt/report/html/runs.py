"""The page that lists the runs of a work dir."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ais_prompt.errors import StoreError
from ais_prompt.report.html.finite import finite_json
from ais_prompt.report.html.page import END, page_start
from ais_prompt.report.html.run_files import summary_of
from ais_prompt.store.layout import RunFolder
from ais_prompt.store.run_file import read_run_file

SCRIPTS: Final = ("dom.js", "data.js", "text.js", "runs.js")


def runs_page(work_dir: Path, runs: Mapping[str, RunFolder]) -> str:
    """The list as a page.

    Args:
        work_dir: where the runs are; its name is shown.
        runs: address of a run's report → the run.
    """
    lines = [{"address": address, **_line(folder)} for address, folder in runs.items()]
    lines.sort(key=lambda line: _seconds(line["started"]), reverse=True)
    data = {"work_dir": str(work_dir), "runs": lines}
    return page_start(f"Runs in {work_dir.name}", "runs.html", SCRIPTS, finite_json(data)) + END


def _seconds(started: Any) -> float:
    """A time with any offset as seconds since 1970; 0 if it is none."""
    try:
        return datetime.fromisoformat(started).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0


def _line(folder: RunFolder) -> dict[str, Any]:
    """What the list says of a run; of one whose files are broken what is wrong with them."""
    root = folder.root.resolve()
    line: dict[str, Any] = {"name": root.parent.name, "time": root.name, "started": "", "scores": [], "trouble": ""}
    try:
        record = read_run_file(folder)
        sessions = record.get("sessions") or [{}]
        line |= {"status": record.get("status", ""), "started": sessions[0].get("started", "")}
        line["scores"] = [_score(row) for row in summary_of(folder)]
    except (StoreError, AttributeError, TypeError) as error:
        line["trouble"] = error.what if isinstance(error, StoreError) else "run.json is broken"
    return line


def _score(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in ("model", "dataset", "metric", "score", "fraction", "n", "of", "note")}
