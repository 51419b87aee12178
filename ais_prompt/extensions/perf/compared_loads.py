"""Compare two loads: ratios of their latencies and throughputs, from the requests that both have answered.

Requests are paired by sample, turn and repeat, so two loads of the same questions differ only by the servers and by
chance. The interval of a ratio follows from what each pair adds to the difference of the logarithms of the two
percentiles (`perf.intervals.percentile_errors`), in blocks of time, since requests that wait for each other
are alike. Where one load does not show how well its percentile is known, the ratio has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.documents import LoadComparison, Ratio
from ais_prompt.extensions.perf.exchange import Exchange
from ais_prompt.extensions.perf.intervals import half_width, percentile_errors
from ais_prompt.extensions.perf.load_files import LoadPlan, StoredLoad
from ais_prompt.extensions.perf.metrics import LEAST_BEYOND, LoadTable, load_table, marks_of, values_beyond
from ais_prompt.extensions.perf.options import METRICS, THROUGHPUTS
from ais_prompt.terminal import Cell, Column, print_heading, print_table
from ais_prompt.utils import counted, printable

COMPARED: Final = (50, 99)
"""Percentiles whose ratios are computed."""
SAME: Final = 0.01
"""Share by which rates and mean lengths may differ without a note."""


def compare_loads(before: StoredLoad, after: StoredLoad) -> LoadComparison:
    """Compare two loads.

    Raises:
        DataError: they have no answered request in common.
    """
    first, second = (_answered(load) for load in (before, after))
    keys = _in_order([key for key in first if key in second], first)
    if not keys:
        what = "the loads have no answered request in common"
        raise DataError(what, fix="measure both with the same questions; requests are paired by their input columns")
    pairs = [(first[key], second[key]) for key in keys]
    from_due = all(load.plan.schedule.kind in ("rate", "trace") for load in (before, after))
    values = [np.array([_latencies(one, from_due=from_due) for one in side]) for side in zip(*pairs, strict=True)]
    numbers: dict[tuple[str, int], int] = {}  # of each conversation, from 0 in their order
    conversations = np.array([numbers.setdefault((key[0], key[2]), len(numbers)) for key in keys])
    tables = load_table(before.exchanges, before.plan.schedule), load_table(after.exchanges, after.plan.schedule)
    return LoadComparison(
        len(keys),
        [*_latency_ratios(values[0], values[1], conversations), *_throughputs(*tables)],
        [*_plan_notes(before.plan, after.plan), *_request_notes(before, after, pairs)],
    )


_METRICS: Final = (
    "ttft_seconds",
    "tpot_seconds",
    "e2el_seconds",
    "ttft_from_due_seconds",
    "e2el_from_due_seconds",
)
"""The columns of `_latencies`."""


def _answered(load: StoredLoad) -> dict[tuple[str, int, int], Exchange]:
    return {(one.sample_id, one.turn, one.repeat): one for one in load.exchanges if one.failure is None}


def _in_order(
    keys: Sequence[tuple[str, int, int]], exchanges: Mapping[tuple[str, int, int], Exchange]
) -> list[tuple[str, int, int]]:
    """Return the keys of requests in the order of their conversations, which is that of their first turns."""
    begins: dict[tuple[str, int], float] = {}
    for sample_id, turn, repeat in keys:
        start = exchanges[sample_id, turn, repeat].start
        begins[sample_id, repeat] = min(begins.get((sample_id, repeat), start), start)
    return sorted(keys, key=lambda key: (begins[key[0], key[2]], key[0], key[2], key[1]))


def _latencies(one: Exchange, *, from_due: bool) -> tuple[float, ...]:
    """Return the latencies of a request (see `perf.metrics`); NaN for those that it does not have."""
    first, tpot, last = marks_of(one)
    due = one.due if from_due else math.nan
    return first - one.start, tpot, last - one.start, first - due, last - due


def _latency_ratios(
    before: NDArray[np.float64], after: NDArray[np.float64], conversations: NDArray[np.int64]
) -> Iterator[Ratio]:
    """Yield the ratios of the percentiles of each metric, of the requests that have it in both loads."""
    for place, metric in enumerate(_METRICS):
        known = ~np.isnan(before[:, place]) & ~np.isnan(after[:, place])
        if not known.any():
            continue
        old, new = before[known, place], after[known, place]
        units = np.unique(conversations[known], return_inverse=True)[1]
        for percent in COMPARED:
            one, other = (float(np.percentile(side, percent)) for side in (old, new))
            yield Ratio(
                f"{metric}_p{percent}",
                one,
                other,
                other / one if one else None,
                percentile_ratio_interval(old, new, percent, units),
                len(old),
                values_beyond(len(old), percent) < LEAST_BEYOND,
            )


def percentile_ratio_interval(
    before: NDArray[np.float64], after: NDArray[np.float64], percent: float, conversations: NDArray[np.int64]
) -> tuple[float, float] | None:
    """Return the interval of the ratio of two percentiles; None where the loads are too short to show it.

    Args:
        before, after: of each pair of requests, in the order of their conversations.
        percent: 50 for the median.
        conversations: the number of each request's conversation, in their order.
    """
    if conversations[-1] == 0:
        return None
    errors = [percentile_errors(side, percent) for side in (before, after)]
    if errors[0] is None or errors[1] is None:
        return None
    half = half_width(np.bincount(conversations, errors[1] - errors[0]).astype(np.float64))
    ratio = float(np.percentile(after, percent) / np.percentile(before, percent))
    return ratio * math.exp(-half), ratio * math.exp(half)


def _throughputs(before: LoadTable, after: LoadTable) -> Iterator[Ratio]:
    for name in THROUGHPUTS:
        old, new = getattr(before, name), getattr(after, name)
        yield Ratio(name, old, new, new / old if old else None)


def _plan_notes(before: LoadPlan, after: LoadPlan) -> Iterator[str]:
    """Yield how the loads differ that were planned."""
    first, second = before.schedule, after.schedule
    if first.kind != second.kind:
        yield f"the loads are of different kinds, {first.kind} and {second.kind}: latencies do not compare"
    elif first.rate is not None and second.rate is not None and _differ(first.rate, second.rate):
        yield f"the rates differ: {first.rate:.4g} and {second.rate:.4g} requests/s"
    elif list(first.due) != list(second.due):
        yield "the times at which requests were due differ, as with another seed"
    if first.places != second.places:
        yield f"the places differ: {first.places or 'no limit'} and {second.places or 'no limit'}"
    if before.unique != after.unique:
        yield "only one of them has unique prompts, which no prefix cache has"


def _request_notes(before: StoredLoad, after: StoredLoad, pairs: Sequence[tuple[Exchange, Exchange]]) -> Iterator[str]:
    """Yield how the requests and answers of the loads differ."""
    for name, load in (("first", before), ("second", after)):
        failed = sum(one.failure is not None for one in load.exchanges)
        if failed:
            yield f"{counted(failed, 'request')} of the {name} failed; failures are in no ratio of latencies"
        if alone := len(load.exchanges) - failed - len(pairs):
            yield f"{counted(alone, 'answered request')} of the {name} are not in the other"
    limits = sum(one.max_tokens != other.max_tokens for one, other in pairs)
    if limits:
        yield f"{counted(limits, 'request')} asked for answers of another length"
    means: Mapping[str, list[float]] = {
        "prompts": [_mean([pair[side].input_tokens for pair in pairs]) for side in (0, 1)],
        "answers": [_mean([pair[side].output_tokens for pair in pairs]) for side in (0, 1)],
    }
    for what, (old, new) in means.items():
        if _differ(old, new):
            yield f"the {what} have {old:.4g} and {new:.4g} tokens on average"


def _mean(values: Sequence[int | None]) -> float:
    return sum(value or 0 for value in values) / len(values)


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > SAME * max(one, other)


_COLUMNS: Final = (
    Column("", is_name=True, right=False),
    *map(Column, ("before", "after", "after / before", "95 % interval", "n")),
)


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
    title = f"{METRICS[metric]} {percentile} ms" if is_latency else THROUGHPUTS[one.metric]
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
