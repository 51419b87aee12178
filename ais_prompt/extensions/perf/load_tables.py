"""Show loads in a terminal: the numbers of each and a verdict on each number; of several the knee and the best rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ais_prompt.extensions.perf.load_result import LoadResult
from ais_prompt.extensions.perf.metric_names import LOAD_VERDICTS
from ais_prompt.extensions.perf.metrics import METRICS, PERCENTILES, Distribution, LoadTable
from ais_prompt.extensions.perf.points import PointRun, Setting, knee, misses
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.utils import Cell, Column, counted, fits, print_heading, print_table, printable

_STATISTICS: Final = ("mean", "min", *(f"p{percent}" for percent in PERCENTILES), "max", "n")
_LEFT_OUT: Final = ("in flight", "E2EL p50", "TPOT p50", "TTFT p99", "requests", "tokens/s")
"""Columns of many loads that a narrow terminal has no room for, the first to go first."""
FEW: Final = 3
"""Most loads that are shown with all of their numbers."""
_STARRED: Final = "* from the moment at which a request was due; latencies without * begin when it was sent"
_INTERVALS: Final = "[a, b] is a 95 % interval; ? an end for which there are too few values"


def print_loads(results: Sequence[LoadResult], console: Console) -> None:
    """Print each result; of many one line each, and each verdict that does not hold once.

    Args:
        results: of the tasks of a run.
        console: where to.
    """
    if len(results) <= FEW:
        for result in results:
            print_load(result, console)
            console.print()
        return
    print_summaries("load", [(one.task.name, summary_cells(one.total)) for one in results], console)
    console.print()
    print_verdicts_of_many([(one.task.name, one) for one in results], console)


def print_verdicts_of_many(results: Sequence[tuple[str, LoadResult]], console: Console) -> None:
    """Print each verdict that does not hold once, and the names of those that hold everywhere.

    Args:
        results: of loads, each with its name.
        console: where to.
    """
    wrong: dict[str, list[tuple[str, str]]] = {}
    for title, result in results:
        for verdict in result.verdicts:
            if not verdict.holds:
                wrong.setdefault(verdict.name, []).append((title, verdict.text))
    asked = {verdict.name for _, result in results for verdict in result.verdicts}
    right = [name for name in LOAD_VERDICTS if name in asked and name not in wrong]
    lines = [("ok", "", f"all {len(results)} loads: {', '.join(right)}")] if right else []
    for name, found in wrong.items():
        title, text = found[0]
        lines.append(("WARN", name, f"{len(found)} of {len(results)} loads, such as {title}: {text}"))
    _print_verdicts(lines, console)


def print_load(result: LoadResult, console: Console) -> None:
    """Print the tables of a task, its throughput, and its verdicts.

    Args:
        result: of the task.
        console: where to.
    """
    kind = plan_words(result.load.plan.schedule, result.total.requests)
    print_heading(f"{result.task.name}: {kind}", console)
    for table in (result.total, result.window):
        if table is not None and table.distributions:
            _print_table(table, console)
    if any("from_due" in name for name in result.total.distributions):
        _say(_STARRED, console, "dim")
    _say(_INTERVALS, console, "dim")
    if result.goodput is not None:
        _say(
            f"goodput: {result.goodput.requests_per_second:.4g} requests/s meet every goal, "
            f"{result.goodput.share:.1%} of all",
            console,
            "bold",
        )
    lines = [("ok" if one.holds else "WARN", one.name, one.text) for one in result.verdicts]
    _print_verdicts(lines, console)
    if result.missing:
        _say(f"no tables in the form of AISBench: {result.missing}", console, "dim")


def print_summaries(title: str, rows: Sequence[tuple[str, Mapping[str, Cell]]], console: Console) -> None:
    """Print a line for each load, with as many columns as fit.

    Args:
        title: of the column with the names.
        rows: name and cells of each load, at least one; all have the same columns.
        console: where to.
    """
    names = list(rows[0][1])
    for left_out in (None, *_LEFT_OUT):
        if left_out is not None:
            names.remove(left_out)
        columns = [Column(title, is_name=True, right=False), *map(Column, names)]
        lines = [[name, *(cells[column] for column in names)] for name, cells in rows]
        if fits(columns, lines, console):
            break
    print_table(columns, lines, console)


def summary_cells(table: LoadTable) -> dict[str, Cell]:
    """Return title → cell of a load that is one line of many."""

    def percentile(metric: str, name: str) -> str:
        found = table.distributions.get(metric)
        return f"{1000 * found.percentiles[name]:,.4g}" if found else ""

    return {
        "requests": f"{table.requests:,}",
        "failed": Text(f"{table.failed:,}", "red" if table.failed else ""),
        "TTFT p50 ms": percentile("ttft_seconds", "p50"),
        "TTFT p99": percentile("ttft_seconds", "p99"),
        "TPOT p50": percentile("tpot_seconds", "p50"),
        "E2EL p50": percentile("e2el_seconds", "p50"),
        "E2EL p99": percentile("e2el_seconds", "p99"),
        "requests/s": f"{table.requests_per_second:.4g}",
        "tokens/s": f"{table.output_tokens_per_second:.4g}",
        "in flight": f"{table.concurrency:.3g}",
    }


def _print_verdicts(lines: Sequence[tuple[str, str, str]], console: Console) -> None:
    """Print verdicts: ``ok`` or ``WARN``, the name, and the text of each."""
    if not console.is_terminal:
        console.file.writelines(f"{mark:<4}  {name:<8}  {printable(text)}\n" for mark, name, text in lines)
        return
    grid = Table.grid(padding=(0, 2))
    for mark, name, text in lines:
        style = "" if mark == "ok" else "yellow"
        grid.add_row(Text(mark, style), Text(name, style), Text(printable(text), style))
    console.print(grid)


def print_sweep(
    results: Sequence[tuple[PointRun, LoadResult]],
    best: Setting | None,
    not_reset: str,
    console: Console,
    *,
    best_is_least: bool = False,
    is_whole: bool = True,
) -> None:
    """Print a table for each task, the verdicts of all loads, and the largest rate that meets the goals.

    Args:
        results: of each task in each load, at least one.
        best: the largest rate that passed; None if there is none.
        not_reset: why prefix caches may hold prompts of earlier loads; else empty.
        console: where to.
        best_is_least: whether the server may take more than ``best``.
        is_whole: whether the run came to its end.
    """
    by_task = sorted(results, key=lambda one: one[1].task.name)
    for name, found in groupby(by_task, key=lambda one: one[1].task.name):
        loads = list(found)
        print_heading(f"{name}: {counted(len(loads), 'load')}", console)
        print_summaries("point", _sweep_cells(loads), console)
        console.print()
    print_verdicts_of_many([(f"{point.title} of {one.task.name}", one) for point, one in by_task], console)
    if not_reset:
        _say(f"WARN  cache: {not_reset}; perf=dict(unique=True) prevents that", console, "bold")
    if not is_whole:
        _say("WARN  stopped: the run has not come to its end, so loads are missing", console, "bold")
    if best is not None and best_is_least:
        words = f"at least {best}: it is the largest rate that passed, and no larger one shows the limit of the server"
        _say(f"{words}; above it this machine was too slow, or nothing was measured", console, "bold")
    elif best is not None:
        _say(f"{best} is the largest rate that passed", console, "bold")
    elif any(point.setting and point.setting.key == "request_rate" and one.goodput for point, one in by_task):
        _say("no rate passed", console, "bold")


def plan_words(schedule: Schedule, requests: int | None) -> str:
    """Return what kind of load it is, in words.

    Args:
        schedule: of the load.
        requests: how many there are; None if the server decides that.
    """
    number = "requests" if requests is None else counted(requests, "request")
    time = "" if schedule.seconds is None else f" in {schedule.seconds:g} s"
    if schedule.kind in ("closed", "pressure"):
        return f"{number} from {counted(schedule.places or 0, 'client')}{time}"
    if schedule.kind == "users":
        return f"{number} from {counted(schedule.places or 0, 'user')}, {schedule.think_seconds:g} s apart{time}"
    limit = "" if schedule.places is None else f", at most {schedule.places} at a time"
    rate = "" if schedule.rate is None else f" at {schedule.rate:.4g}/s"
    return f"{number}{rate}{' of a trace' if schedule.kind == 'trace' else ''}{limit}"


def _print_table(table: LoadTable, console: Console) -> None:
    """Print the metrics of a stage, with as many intervals as fit, and its throughputs."""
    columns = [Column(table.stage, is_name=True, right=False), *map(Column, _STATISTICS)]
    names = [name for name in METRICS if name in table.distributions]
    for with_intervals in (("mean", "p50", "p99"), ("p50", "p99"), ("p99",), ()):
        rows = [_row(name, table.distributions[name], with_intervals) for name in names]
        if fits(columns, rows, console):
            break
    print_table(columns, rows, console)

    def rate(name: str) -> str:
        ends = table.intervals.get(name)
        return f"{getattr(table, name):.4g}" + (f" [{max(0.0, ends[0]):.4g}, {ends[1]:.4g}]" if ends else "")

    parts = [
        f"{table.answered:,} of {table.requests:,} answered in {table.seconds:.4g} s",
        f"{rate('requests_per_second')} requests/s",
        f"{rate('input_tokens_per_second')} tokens in/s",
        f"{rate('output_tokens_per_second')} tokens out/s",
        f"{table.concurrency:.3g} in flight (most {table.peak_concurrency})",
    ]
    if table.tokens_per_event is not None:
        parts.append(f"{table.tokens_per_event:.3g} tokens an event")
    _say(" · ".join(parts), console, "bold")
    _say("", console, "")


def _row(name: str, found: Distribution, with_intervals: Sequence[str]) -> list[Cell]:
    """Return the cells of a metric; percentiles of too few values are dim, and ``?`` is an end that is not known."""
    is_time = name.endswith("_seconds") and not name.endswith("per_seconds")
    title = f"{METRICS[name]} ms" if is_time else METRICS[name]
    scale = 1000 if is_time else 1

    def shown(value: float) -> str:
        return f"{scale * value:,.4g}" if scale * value < 10_000 else f"{scale * value:,.0f}"

    def estimate(key: str, value: float) -> Cell:
        ends = found.intervals.get(key) if key in with_intervals else None
        shown_ends = [shown(end) if math.isfinite(end) else "?" for end in ends or ()]
        is_known = set(shown_ends) <= {shown(value)}  # all values are alike, or no interval is asked for
        text = shown(value) if is_known else f"{shown(value)} [{', '.join(shown_ends)}]"
        return Text(text, "dim") if key in found.thin else text

    percentiles = [estimate(key, value) for key, value in found.percentiles.items()]
    return [
        title,
        estimate("mean", found.mean),
        shown(found.least),
        *percentiles,
        shown(found.most),
        f"{found.n:,}",
    ]


def _say(text: str, console: Console, style: str) -> None:
    console.print(Text(printable(text), style), soft_wrap=not console.is_terminal)


def _sweep_cells(loads: Sequence[tuple[PointRun, LoadResult]]) -> list[tuple[str, dict[str, Cell]]]:
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
