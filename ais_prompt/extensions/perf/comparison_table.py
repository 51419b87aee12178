"""Show how the loads of two runs differ, in a terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.text import Text

from ais_prompt.extensions.perf.documents import LoadComparison, Ratio
from ais_prompt.extensions.perf.metrics import METRICS
from ais_prompt.terminal import Cell, Column, print_heading, print_table
from ais_prompt.utils import printable

_COLUMNS: Final = (
    Column("", is_name=True, right=False),
    *map(Column, ("before", "after", "after / before", "95 % interval", "n")),
)
_THROUGHPUTS: Final = {
    "requests_per_second": "requests/s",
    "input_tokens_per_second": "tokens in/s",
    "output_tokens_per_second": "tokens out/s",
    "concurrency": "in flight",
}


def print_load_comparison(task: str, found: LoadComparison, console: Console) -> None:
    """Print the ratios of a task; a ratio whose interval leaves out 1 is bold.

    Args:
        task: ``model/dataset``.
        found: its comparison.
        console: where to.
    """
    print_heading(f"{task}: load, {found.common:,} requests that both have answered", console)
    for note in found.notes:
        console.print(Text(f"Note: {printable(note)}", "yellow"), soft_wrap=True)
    print_table(_COLUMNS, [_row(one) for one in found.ratios], console)
    if any(one.thin for one in found.ratios):
        console.print(Text("~ rests on few values", "dim"), soft_wrap=True)


def _row(one: Ratio) -> list[Cell]:
    metric, _, percentile = one.metric.rpartition("_")
    is_latency = metric in METRICS
    title = f"{METRICS[metric]} {percentile} ms" if is_latency else _THROUGHPUTS[one.metric]
    scale = 1000 if is_latency else 1
    ends = "" if one.interval is None else f"{one.interval[0]:.3f} to {one.interval[1]:.3f}"
    differs = one.interval is not None and not one.interval[0] <= 1 <= one.interval[1]
    ratio = "" if one.ratio is None else f"{'~ ' if one.thin else ''}{one.ratio:.3f}"
    return [
        title,
        f"{scale * one.before:.4g}",
        f"{scale * one.after:.4g}",
        Text(ratio, "bold" if differs else ""),
        ends,
        f"{one.n:,}" if one.n else "",
    ]
