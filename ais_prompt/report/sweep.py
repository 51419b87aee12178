"""Show several loads in a terminal: a line for each point, the knee, and the result of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ais_prompt.perf.load_result import LoadResult
from ais_prompt.perf.points import PointRun, Setting, knee, misses
from ais_prompt.report.load_tables import print_summaries, print_verdicts_of_many, summary_cells
from ais_prompt.utils.tables import Cell, print_heading
from ais_prompt.utils.text import counted, printable


def print_sweep(
    results: Sequence[tuple[PointRun, LoadResult]],
    best: Setting | None,
    not_reset: str,
    console: Console,
    *,
    is_whole: bool = True,
) -> None:
    """Print a table for each task, the verdicts of all loads, and the largest rate that meets the goals.

    Args:
        results: of each task in each load, at least one.
        best: the largest rate that passed; None if there is none.
        not_reset: why prefix caches may hold prompts of earlier loads; else empty.
        console: where to.
        is_whole: whether the run came to its end.
    """
    by_task = sorted(results, key=lambda one: one[1].task.name)
    for name, found in groupby(by_task, key=lambda one: one[1].task.name):
        loads = list(found)
        print_heading(f"{name}: {counted(len(loads), 'load')}", console)
        print_summaries("point", _cells(loads), console)
        console.print()
    print_verdicts_of_many([(f"{point.title} of {one.task.name}", one) for point, one in by_task], console)
    if not_reset:
        _say(f"WARN  cache: {not_reset}; perf=dict(unique=True) prevents that", console)
    if not is_whole:
        _say("WARN  stopped: the run has not come to its end, so loads are missing", console)
    if best is not None:
        _say(f"{best} is the largest rate that passed", console)
    elif any(point.setting and point.setting.key == "request_rate" and one.goodput for point, one in by_task):
        _say("no rate passed", console)


def _cells(loads: Sequence[tuple[PointRun, LoadResult]]) -> list[tuple[str, dict[str, Cell]]]:
    """Return title and cells of each load; the last cells say which goals are missed, and mark the knee."""
    tables = [result.total for _, result in loads]
    latencies = [one.distributions.get("e2el_seconds") for one in tables]
    medians = [math.inf if one is None else one.percentiles["p50"] for one in latencies]
    at_knee = knee([one.output_tokens_per_second for one in tables], medians)
    rows = []
    for place, (point, result) in enumerate(loads):
        cells = summary_cells(result.total)
        if result.goodput is not None:
            missed = misses(result)
            cells["goodput"] = f"{result.goodput.requests_per_second:.4g}"
            cells["goals"] = Text(f"misses {', '.join(missed)}" if missed else "met", "yellow" if missed else "green")
        if at_knee is not None:
            cells[""] = Text("knee" if place == at_knee else "", "bold")
        rows.append((point.title, cells))
    return rows


def _say(text: str, console: Console) -> None:
    console.print(Text(printable(text), "bold"), soft_wrap=not console.is_terminal)
