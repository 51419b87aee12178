"""Show loads in a terminal: of each what is most looked at, and what is wrong with it; of several the knee too.

All numbers are in ``_perf.json`` and in the report. A percentile with too few values beyond it is not shown here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ais_prompt.extensions.perf.load_result import LoadResult
from ais_prompt.extensions.perf.load_verdicts import SLO, VALUES, VOIDING
from ais_prompt.extensions.perf.metrics import LEAST_BEYOND, PERCENTILES, Distribution, LoadTable
from ais_prompt.extensions.perf.options import LOAD_VERDICTS, METRICS, THROUGHPUTS
from ais_prompt.extensions.perf.points import PointRun, Setting, knee, misses
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.terminal import Cell, Column, fits, print_heading, print_table
from ais_prompt.utils import counted, printable

_LEFT_OUT: Final = (
    "in flight",
    "E2EL p50",
    "TPOT p50",
    *(f"TTFT p{one}" for one in PERCENTILES),
    "requests",
    "tokens/s",
)
"""Columns of many loads that a narrow terminal has no room for, the first to go first."""
_METRICS: Final = (
    ("ttft_from_due_seconds", "ttft_seconds"),
    ("ttfo_seconds",),
    ("tpot_seconds",),
    ("e2el_from_due_seconds", "e2el_seconds"),
    ("probe_seconds",),
)
"""The lines of a load: of each the first metric that there is. Rates and traces count from when a request was due."""
_RATES: Final = ("requests_per_second", "output_tokens_per_second", "input_tokens_per_second")
FEW: Final = 3
"""Most loads that are shown with all of their numbers."""
_STARRED: Final = "* from the moment at which a request was due"


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
    tail = firm_tail([one.total for one in results])
    cells = [
        {**void, **summary_cells(one.total, tail)} for one, void in zip(results, _void_cells(results), strict=True)
    ]
    print_summaries("load", list(zip([one.task.name for one in results], cells, strict=True)), console)
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
            if not verdict.holds and verdict.name != VALUES:
                wrong.setdefault(verdict.name, []).append((title, verdict.text))
    asked = {verdict.name for _, result in results for verdict in result.verdicts}
    right = [name for name in LOAD_VERDICTS if name in asked - {VALUES} and name not in wrong]
    lines = [("ok", "", f"all {len(results)} loads: {', '.join(right)}")] if right else []
    for name, found in wrong.items():
        title, text = found[0]
        lines.append(
            ("FAIL" if name == SLO else "WARN", name, f"{len(found)} of {len(results)} loads, such as {title}: {text}")
        )
    _print_verdicts(lines, console)


def print_load(result: LoadResult, console: Console) -> None:
    """Print a load in about ten lines: what voids its numbers, the numbers, its goals, and what else is wrong.

    Args:
        result: of the task.
        console: where to.
    """
    table, schedule = result.total, result.load.plan.schedule
    parts = [result.task.name, plan_words(schedule, table.requests)]
    if schedule.is_open:
        parts.append(f"{table.concurrency:.3g} in flight")
    if table.failed:
        parts.append(f"{table.failed:,} failed")
    if table.distributions:
        tokens = (table.distributions[f"{side}_tokens"].percentiles["p50"] for side in ("input", "output"))
        parts.append(f"{' → '.join(f'{one:,.0f}' for one in tokens)} tokens")
    _say(" · ".join(parts), console, "bold")
    wrong = [one for one in result.verdicts if not one.holds and one.name not in (SLO, VALUES)]
    voids = [one for one in wrong if one.name in VOIDING]
    for verdict in voids:
        _say(f"!! {verdict.text}", console, "bold red")
    tail = firm_tail([table])
    if table.distributions:
        _print_numbers(table, tail, console)
    goals = [("ok" if one.holds else "FAIL", one.name, one.text) for one in result.verdicts if one.name == SLO]
    _print_verdicts([*goals, *(("WARN", one.name, one.text) for one in wrong if one not in voids)], console)
    if result.goodput is not None:
        good = result.goodput
        _say(f"goodput: {good.requests_per_second:.4g} requests/s meet every goal, {good.share:.1%} of all", console)
    holding = sum(one.holds for one in result.verdicts if one.name != SLO)
    checks = [f"checks: {holding} ok"]
    if wrong:
        checks.append(f"{counted(len(wrong), 'warning')}: {', '.join(one.name for one in wrong)}")
    if tail != f"p{PERCENTILES[-1]}":
        needed = 100 * LEAST_BEYOND // (100 - PERCENTILES[-1])  # so that `LEAST_BEYOND` values are beyond it
        checks.append(f"p{PERCENTILES[-1]} needs {needed} answers")
    _say(" · ".join(checks), console, "yellow" if wrong else "")
    if result.missing:
        _say(f"no tables in the form of AISBench: {result.missing}", console, "dim")


def firm_tail(tables: Sequence[LoadTable]) -> str:
    """Return the largest percentile that rests on values enough in each load, such as ``p99``; else the median.

    Args:
        tables: of the loads.
    """
    kinds = ("ttft_seconds", "e2el_seconds")
    found = [table.distributions[kind] for table in tables for kind in kinds if kind in table.distributions]
    names = [f"p{percent}" for percent in PERCENTILES]
    return next((name for name in reversed(names) if all(name not in one.thin for one in found)), names[0])


def print_summaries(title: str, rows: Sequence[tuple[str, Mapping[str, Cell]]], console: Console) -> None:
    """Print a line for each load, with as many columns as fit.

    Args:
        title: of the column with the names.
        rows: name and cells of each load, at least one; all have the same columns.
        console: where to.
    """
    names = list(rows[0][1])
    for left_out in (None, *_LEFT_OUT):
        names = [name for name in names if name != left_out]
        columns = [Column(title, is_name=True, right=False), *map(Column, names)]
        lines = [[name, *(cells[column] for column in names)] for name, cells in rows]
        if fits(columns, lines, console):
            break
    print_table(columns, lines, console)


def summary_cells(table: LoadTable, tail: str) -> dict[str, Cell]:
    """Return title → cell of a load that is one line of many.

    Args:
        table: the numbers of the load.
        tail: the largest percentile to show.
    """

    def percentile(metric: str, name: str) -> str:
        found = table.distributions.get(metric)
        return _milliseconds(found.percentiles[name]) if found else ""

    def beyond(metric: str, title: str) -> dict[str, Cell]:
        return {f"{title} {tail}": percentile(metric, tail)} if tail != "p50" else {}

    return {
        "requests": f"{table.requests:,}",
        "failed": Text(f"{table.failed:,}", "red" if table.failed else ""),
        "TTFT p50 ms": percentile("ttft_seconds", "p50"),
        **beyond("ttft_seconds", "TTFT"),
        "TPOT p50": percentile("tpot_seconds", "p50"),
        "E2EL p50": percentile("e2el_seconds", "p50"),
        **beyond("e2el_seconds", "E2EL"),
        "requests/s": f"{table.requests_per_second:.4g}",
        "tokens/s": f"{table.output_tokens_per_second:.4g}",
        "in flight": f"{table.concurrency:.3g}",
    }


def _void_cells(results: Sequence[LoadResult]) -> list[dict[str, Cell]]:
    """Return for each load a cell with the verdicts that void its numbers; no cells if no load has one."""
    found = [[one.name for one in result.verdicts if one.name in VOIDING and not one.holds] for result in results]
    return [{"!!": Text(", ".join(names), "bold red")} if any(found) else {} for names in found]


def _print_verdicts(lines: Sequence[tuple[str, str, str]], console: Console) -> None:
    """Print verdicts: ``ok``, ``WARN`` or ``FAIL``, the name, and the text of each."""
    if not console.is_terminal:
        console.file.writelines(f"{mark:<4}  {name:<8}  {printable(text)}\n" for mark, name, text in lines)
        return
    grid = Table.grid(padding=(0, 2))
    for mark, name, text in lines:
        style = {"ok": "", "FAIL": "bold red"}.get(mark, "yellow")
        grid.add_row(Text(mark, style), Text(name, style), Text(printable(text), style))
    if lines:
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


def _print_numbers(table: LoadTable, tail: str, console: Console) -> None:
    """Print latencies, a line each, and beside them the throughputs.

    Args:
        table: the numbers of the load.
        tail: the largest percentile to show.
        console: where to.
    """
    percentiles = list(dict.fromkeys(["p50", *(["p90"] if tail in ("p95", "p99") else []), tail]))
    metrics = [next((one for one in names if one in table.distributions), "") for names in _METRICS]
    latencies = [_latencies(name, table.distributions[name], percentiles) for name in metrics if name]
    columns = [Column("", is_name=True, right=False), *map(Column, percentiles)]
    rates = [_rate(table, name, THROUGHPUTS[name]) for name in _RATES]
    throughput = f"throughput in {table.seconds:.4g} s"
    beside = [*columns, Column(throughput, right=False)]
    blank = [""] * len(columns)
    rows = [[*(left or blank), right or ""] for left, right in zip_longest(latencies, rates)]
    if fits(beside, rows, console):
        print_table(beside, rows, console)
    else:
        print_table(columns, latencies, console)
        _say(f"{throughput}: {' · '.join(rates)}", console)
    if any("from_due" in name for name in metrics):
        _say(_STARRED, console, "dim")


def _latencies(name: str, found: Distribution, percentiles: Sequence[str]) -> list[str]:
    """Return the title of a latency and its percentiles in ms; a dash for one with too few values beyond it."""
    values = found.percentiles.items()
    shown = {key: "–" if key in found.thin and key != "p50" else _milliseconds(value) for key, value in values}
    return [f"{METRICS[name]} ms", *(shown[key] for key in percentiles)]


def _rate(table: LoadTable, name: str, unit: str) -> str:
    """Return a throughput with its 95 % interval."""
    ends = table.intervals.get(name)
    interval = f" ({_number(max(0.0, ends[0]))}–{_number(ends[1])})" if ends else ""
    return f"{_number(getattr(table, name))} {unit}{interval}"


def _milliseconds(seconds: float) -> str:
    return "∞" if math.isinf(seconds) else _number(1000 * seconds)


def _number(value: float) -> str:
    return f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style), soft_wrap=not console.is_terminal)


def _sweep_cells(loads: Sequence[tuple[PointRun, LoadResult]]) -> list[tuple[str, dict[str, Cell]]]:
    """Return title and cells of each load; the last cells say which goals are missed, and mark the knee."""
    tables = [result.total for _, result in loads]
    latencies = [one.distributions.get("e2el_seconds") for one in tables]
    medians = [math.inf if one is None else one.percentiles["p50"] for one in latencies]
    at_knee = knee([one.output_tokens_per_second for one in tables], medians)
    tail = firm_tail(tables)
    rows = []
    voids = _void_cells([result for _, result in loads])
    for place, (point, result) in enumerate(loads):
        cells = {**voids[place], **summary_cells(result.total, tail)}
        if result.goodput is not None:
            missed = misses(result)
            cells["goodput"] = f"{result.goodput.requests_per_second:.4g}"
            cells["goals"] = Text(f"misses {', '.join(missed)}" if missed else "met", "yellow" if missed else "green")
        if at_knee is not None:
            cells[""] = Text("knee" if place == at_knee else "", "bold")
        rows.append((point.title, cells))
    return rows
