"""How fast served models answered: a table for the eye, and the same as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ais_prompt.store.disk import replacing
from ais_prompt.store.results import write_json_atomic
from ais_prompt.types import Speed, Times
from ais_prompt.utils.text import printable

_HEADERS = {
    "requests": "requests",
    "p50": "latency\np50 s",
    "p90": "p90",
    "p99": "p99",
    "first p50": "1st token\np50 s",
    "first p90": "p90",
    "first p99": "p99",
    "token": "a token\nms",
    "at once": "in\nflight",
    "requests/s": "requests\n/s",
    "tokens/s": "tokens\nout/s",
}
_ONLY_STREAMED = ("first p50", "first p90", "first p99", "token")
_ONLY_WIDE = ("first p90", "first p99", "token", "at once")


def print_speed(speeds: Mapping[str, Speed], console: Console) -> None:
    """Print one line for each task that was served; a terminal that is narrow is shown less.

    Args:
        speeds: task → its speed.
        console: where to.
    """
    streamed = any(speed.first_token for speed in speeds.values())
    columns = [name for name in _HEADERS if streamed or name not in _ONLY_STREAMED]
    table = _table(speeds, columns)
    natural = Measurement.get(console, console.options.update(width=10_000), table).maximum
    if console.is_terminal and natural > console.width:
        table = _table(speeds, [name for name in columns if name not in _ONLY_WIDE])
    console.print(table, crop=False)


def _table(speeds: Mapping[str, Speed], columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("speed", overflow="fold", min_width=8)
    for name in columns:
        table.add_column(_HEADERS[name], justify="right", no_wrap=True)
    for task, speed in speeds.items():
        cells = _cells(speed)
        table.add_row(Text(printable(task)), *(cells[name] for name in columns))
    return table


def write_speed(folder: Path, speeds: Mapping[str, Speed]) -> None:
    """Write ``speed.json`` and ``speed.csv``; nothing if no task was served.

    Raises:
        StoreError: a file cannot be written.
    """
    if not speeds:
        return
    values = {task: speed.to_json() for task, speed in speeds.items()}
    write_json_atomic(folder / "speed.json", values)
    stream = io.StringIO()
    rows = [{"task": task, **_flat(speed)} for task, speed in values.items()]
    writer = csv.DictWriter(stream, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    with replacing(folder / "speed.csv") as file:
        file.write(stream.getvalue().encode("utf-8", "backslashreplace"))


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
