"""The loads of a run for the report: their numbers, verdicts and pictures, and the points of a sweep."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any, Final

from ais_prompt.extensions.perf.metrics import METRICS
from ais_prompt.extensions.perf.points import PointRun, knee
from ais_prompt.report.web.assets import finite_json
from ais_prompt.report.web.run_files import is_load, load_files
from ais_prompt.store import RunFolder, reading
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
    return [_json(path) for path in sorted(load_files(folder))]


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
        titles of metrics.

    Raises:
        StoreError: a file cannot be read.
    """
    loads = []
    for one in numbers_of(folder):
        names = one["model"], one["dataset"]
        is_known = _run(folder).load_file(*names, "_charts.json").exists()
        loads.append({**one, "charts": read_charts(*names, folder) if is_known else None})
    values = {"is_load": is_load(_run(folder)), "loads": loads, "sweeps": sweeps_of(folder), "metrics": METRICS}
    found: dict[str, Any] = finite_json(values)
    return found


def read_charts(model: str, dataset: str, folder: RunFolder) -> Any:
    """Return the content of the ``_charts.json`` of a load.

    Raises:
        StoreError: it cannot be read.
    """
    return _json(_run(folder).load_file(model, dataset, "_charts.json"))


def sweeps_of(folder: RunFolder) -> list[dict[str, Any]]:
    """Return the sweeps of a run, one for each model and dataset with several points in ``summary/perf.csv``.

    Returns:
        Each with ``model``, ``dataset``, ``points`` (``name`` and the numbers of `RATE` and `LATENCIES`), and ``knee``,
        the place of a point in them, None if there is none.

    Raises:
        StoreError: the file cannot be read.
    """
    path = _run(folder).summary_dir / "perf.csv"
    if not path.exists():
        return []
    with reading(path, fix=FIX):
        rows = list(csv.DictReader(StringIO(path.read_text("utf-8"))))
    sweeps: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        with suppress(KeyError, ValueError, TypeError):  # a point without answers has no latencies
            point = {"name": row["point"], **{name: float(row[name]) for name in (RATE, *LATENCIES)}}
            sweeps.setdefault((row["model"], row["dataset"]), []).append(point)
    return [
        {"model": model, "dataset": dataset, "points": points, "knee": _knee(points)}
        for (model, dataset), points in sweeps.items()
        if len(points) > 1
    ]


def _knee(points: Sequence[Mapping[str, Any]]) -> int | None:
    rates, latencies = ([point[name] for point in points] for name in (RATE, LATENCIES[-1]))
    return knee(rates, latencies)


def _run(folder: RunFolder) -> RunFolder:
    """Return the run of a folder of scores: that of an unfinished run has scores in a folder of their own."""
    return RunFolder(folder.root.parent) if folder.root.name == "partial" else folder


def _json(path: Path) -> dict[str, Any]:
    with reading(path, fix=FIX):
        found: dict[str, Any] = decode_own(path.read_bytes())
    return found
