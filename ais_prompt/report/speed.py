"""Print the speed of served models, and write it to files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from ais_prompt.report.formats import csv_lines
from ais_prompt.store.disk import replacing
from ais_prompt.store.results import write_json_atomic
from ais_prompt.types import Speed, Times
from ais_prompt.utils.tables import Column, print_table

_COLUMNS = {
    "requests": Column("requests"),
    "requests/s": Column("requests/s"),
    "tokens/s": Column("tokens out/s"),
    "p50": Column("latency p50 s"),
    "p90": Column("p90"),
    "p99": Column("p99"),
    "first p50": Column("1st token p50 s"),
    "first p90": Column("p90"),
    "first p99": Column("p99"),
    "token": Column("a token ms"),
    "at once": Column("in flight"),
}
_ONLY_STREAMED = ("first p50", "first p90", "first p99", "token")


def print_speed(speeds: Mapping[str, Speed], console: Console) -> None:
    """Print one line for each task that was served.

    Args:
        speeds: task → its speed.
        console: where to.
    """
    streamed = any(speed.first_token for speed in speeds.values())
    names = [name for name in _COLUMNS if streamed or name not in _ONLY_STREAMED]
    columns = [Column("speed", is_name=True, right=False), *(_COLUMNS[name] for name in names)]
    found = [(task, _cells(speed)) for task, speed in speeds.items()]
    print_table(columns, [[task, *(cells[name] for name in names)] for task, cells in found], console)


def write_speed(folder: Path, speeds: Mapping[str, Speed]) -> None:
    """Write ``speed.json`` and ``speed.csv``; nothing if no task was served.

    Raises:
        StoreError: a file cannot be written.
    """
    if not speeds:
        return
    values = {task: speed.to_json() for task, speed in speeds.items()}
    write_json_atomic(folder / "speed.json", values)
    rows = [{"task": task, **_flat(speed)} for task, speed in values.items()]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with replacing(folder / "speed.csv") as file:
        file.write(csv_lines(columns, rows).encode("utf-8", "backslashreplace"))


def _cells(speed: Speed) -> dict[str, str]:
    return {
        "requests": str(speed.requests),
        **_percentiles("", speed.latency),
        **_percentiles("first ", speed.first_token),
        "token": f"{1e3 * speed.token.mean:.3g}" if speed.token else "",
        "at once": _number(speed.concurrency),
        "requests/s": _number(speed.requests_per_second),
        "tokens/s": _number(speed.output_tokens_per_second),
    }


def _percentiles(prefix: str, times: Times | None) -> dict[str, str]:
    names = ("p50", "p90", "p99")
    return {prefix + name: _number(getattr(times, name)) if times else "" for name in names}


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """``latency: {p50: …}`` as ``latency_p50: …``."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}_{key}": number for key, number in value.items()}
        elif name not in ("latency", "first_token", "token"):
            flat[name] = value
    return flat
