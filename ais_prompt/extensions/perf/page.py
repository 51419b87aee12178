"""The loads of a run for its report and the list of runs: numbers, verdicts and pictures, and the points of a sweep.

The pictures of a load are one file each, too, that holds everything: ``<dataset>_plot.html``, its requests and how many
were in flight, and ``<dataset>_rps_distribution_plot.html``, its rates. AISBench has files of these names.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ais_prompt.extensions.perf.load_files import ENDING
from ais_prompt.extensions.perf.load_verdicts import VOIDING
from ais_prompt.extensions.perf.options import METRICS
from ais_prompt.extensions.perf.points import PointRun, knee
from ais_prompt.report import ReportTab, finite_json, page_pieces
from ais_prompt.store import RunFolder, reading, replacing
from ais_prompt.types import TaskSpec
from ais_prompt.utils import decode_own

FIX: Final = "write it again: the run's command with -m perf_viz -r"
RATE: Final = "output_tokens_per_second"
LATENCIES: Final = ("ttft_seconds_p50", "e2el_seconds_p50")
"""What a sweep is drawn by, from its throughput."""


def numbers_of(folder: RunFolder) -> list[dict[str, Any]]:
    """Return the content of each ``_perf.json`` of a run.

    Raises:
        StoreError: one cannot be read.
    """
    return [_json(path) for path in sorted(folder.root.glob("performances/*/*_perf.json"))]


def numbers_of_points(folder: RunFolder) -> list[tuple[str, dict[str, Any]]]:
    """Return the content of each ``_perf.json`` of a run, or of its several loads, each with the name of its load.

    Raises:
        StoreError: one cannot be read.
    """
    runs = [("", folder)]
    for load in folder.load_folders():
        if point := PointRun.of_folder(load.root.name):
            runs.append((point.title, load))
    return [(title, numbers) for title, run in runs for numbers in numbers_of(run)]


def loads_json(folder: RunFolder) -> dict[str, Any]:
    """Return what the report shows of loads, as JSON values with finite numbers.

    Returns:
        ``is_load``: whether the run measures performance; ``loads``: the content of each ``_perf.json``, with that of
        ``_charts.json`` as ``charts`` (None for loads of earlier versions); ``sweeps``: see `sweeps_of`; ``metrics``:
        titles of metrics; ``voiding``: the verdicts that stand above the numbers.

    Raises:
        StoreError: a file cannot be read.
    """
    loads = []
    for one in numbers_of(folder):
        names = one["model"], one["dataset"]
        is_known = folder.load_file(*names, "_charts.json").exists()
        loads.append({**one, "charts": read_charts(*names, folder) if is_known else None})
    values = {
        "is_load": any(_performances(folder, "_schedule.jsonl")),
        "loads": loads,
        "sweeps": sweeps_of(folder),
        "metrics": METRICS,
    }
    values["voiding"] = VOIDING
    found: dict[str, Any] = finite_json(values)
    return found


def read_charts(model: str, dataset: str, folder: RunFolder) -> Any:
    """Return the content of the ``_charts.json`` of a load.

    Raises:
        StoreError: it cannot be read.
    """
    return _json(folder.load_file(model, dataset, "_charts.json"))


def sweeps_of(folder: RunFolder) -> list[dict[str, Any]]:
    """Return the sweeps of a run, one for each model and dataset with several points in ``summary/perf.csv``.

    Returns:
        Each with ``model``, ``dataset``, ``points`` (``name`` and the numbers of `RATE` and `LATENCIES`), and ``knee``,
        the place of a point in them, None if there is none.

    Raises:
        StoreError: the file cannot be read.
    """
    path = folder.summary_dir / "perf.csv"
    if not path.exists():
        return []
    with reading(path, fix=FIX):
        rows = list(csv.DictReader(StringIO(path.read_text("utf-8"))))
    sweeps: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        with suppress(KeyError, ValueError, TypeError):  # a point without answers has no latencies
            point = {"name": row["point"], **{name: float(row[name]) for name in (RATE, *LATENCIES)}}
            sweeps.setdefault((row["model"], row["dataset"]), []).append(point)
    found = []
    for (model, dataset), points in sweeps.items():
        if len(points) > 1:
            place = knee([point[RATE] for point in points], [point[LATENCIES[-1]] for point in points])
            found.append({"model": model, "dataset": dataset, "points": points, "knee": place})
    return found


def _json(path: Path) -> dict[str, Any]:
    with reading(path, fix=FIX):
        found: dict[str, Any] = decode_own(path.read_bytes())
    return found


def _line(folder: RunFolder) -> dict[str, Any]:
    """Return the values of the line of a run in the list; none before its first load has ended."""
    if not (loads := [_load_line(point, load) for point, load in numbers_of_points(folder)]):
        return {}
    datasets = list(dict.fromkeys(load["dataset"] for load in loads))
    return {"loads": loads, "answers": sum(load["answered"] for load in loads), "datasets": datasets}


def _load_line(point: str, load: Mapping[str, Any]) -> dict[str, Any]:
    """Return the main numbers of a load, from its ``_perf.json``; None for what was not measured.

    Args:
        point: its name among several loads; empty if it is the only one.
        load: the content of the file.
    """
    total = load["stages"]["total"]
    medians = {name: found["percentiles"]["p50"] for name, found in total["distributions"].items()}
    return {
        **{name: load[name] for name in ("model", "dataset")},
        "point": point,
        **{name: total[name] for name in ("answered", "failed", "requests_per_second", "output_tokens_per_second")},
        **{name: medians.get(name) for name in ("ttft_seconds", "e2el_seconds")},
        "wrong": [verdict["name"] for verdict in load["verdicts"] if not verdict["holds"]],
    }


def _time(folder: RunFolder) -> int:
    """Return when the numbers of the newest load were written, in nanoseconds since 1970; 0 if there are none."""
    with suppress(OSError):
        files = (*folder.root.glob("performances/*/*_perf.json"), *folder.summary_dir.glob("perf.csv"))
        return max((path.stat().st_mtime_ns for path in files), default=0)
    return 0


def _performances(folder: RunFolder, ending: str) -> Iterator[Path]:
    """Yield files about loads: those of the run, and those of its points, which have folders of their own."""
    patterns = (f"performances/*/*{ending}", f"loads/*/performances/*/*{ending}")
    return chain.from_iterable(map(folder.root.glob, patterns))


def _live(folder: RunFolder) -> Mapping[str, Any] | None:
    """Return the counts of the load that is running (`LoadProgress`); None if none is, or if it has just begun."""
    for path in _performances(folder, ENDING):
        with suppress(OSError, ValueError):  # it has just ended
            counts: Mapping[str, Any] = decode_own(path.read_bytes())
            return counts
    return None


_ASSETS: Final = f"{__package__}:assets"
SCRIPTS: Final = (
    *("dom.js", "words.js", "text.js", "data.js", "plots.js", "charts.js"),
    *(f"{_ASSETS}/load.js", f"{_ASSETS}/load_page.js"),
)
PAGES: Final[Mapping[str, str]] = {"requests": "_plot.html", "rates": "_rps_distribution_plot.html"}
"""What a page shows → the end of its name."""


def write_load_pages(task: TaskSpec, folder: RunFolder) -> None:
    """Write the pages of a load from its ``_charts.json``.

    Raises:
        StoreError: a file cannot be read or written.
    """
    names = task.model.abbr, task.dataset.abbr
    charts = read_charts(*names, folder)
    for kind, ending in PAGES.items():
        data = {"name": task.name, "kind": kind, "charts": charts}
        with replacing(folder.load_file(*names, ending)) as stream:
            stream.writelines(map(str.encode, page_pieces(task.name, f"{_ASSETS}/load_page.html", SCRIPTS, data)))


# Scoring the answers so far would slow the load down.
TAB: Final = ReportTab(data=loads_json, line=_line, version=_time, live=_live, is_scored=False)
