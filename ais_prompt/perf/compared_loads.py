"""Compare two loads: ratios of their latencies and throughputs, from the requests that both have answered.

Requests are paired by sample, turn and repeat, so two loads of the same questions differ only by the servers and by
chance. The interval of a ratio is that of a paired bootstrap: each resample draws as many conversations with
replacement, the same for both loads. Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13.
Requests that wait for each other are not independent, which no interval of one run shows: repeat the runs for that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ais_prompt.errors import DataError
from ais_prompt.perf.exchange import Exchange
from ais_prompt.perf.load_files import LoadPlan, StoredLoad
from ais_prompt.perf.metrics import LEAST_BEYOND, LoadTable, load_table, values_beyond
from ais_prompt.utils.text import counted

COMPARED: Final = (50, 99)
"""Percentiles whose ratios are computed."""
SEED: Final = 0
RESAMPLES: Final = 1000
MOST_DRAWN: Final = 20_000_000
"""Fewer resamples are drawn of very many requests, whose percentiles vary little."""
SAME: Final = 0.01
"""Share by which rates and mean lengths may differ without a note."""


class Ratio(Struct, frozen=True):
    """How a number of a load changed.

    Attributes:
        metric: its name with its unit, as in ``_perf.json``; ``ttft_seconds_p99``.
        before, after: of the requests that both have answered; of a throughput, of all requests.
        ratio: ``after / before``; None if ``before`` is 0.
        interval: its 95 % interval; None for a throughput, and for fewer than two conversations.
        n: pairs of values.
        thin: whether fewer than `ais_prompt.perf.metrics.LEAST_BEYOND` values are beyond the percentile.
    """

    metric: str
    before: float
    after: float
    ratio: float | None
    interval: tuple[float, float] | None = None
    n: int = 0
    thin: bool = False


class LoadComparison(Struct, frozen=True):
    """Two loads.

    Attributes:
        common: requests that both have answered.
        ratios: of latencies, then of throughputs.
        notes: how the loads themselves differ, which the ratios then show too.
    """

    common: int
    ratios: Sequence[Ratio]
    notes: Sequence[str]


def compare_loads(before: StoredLoad, after: StoredLoad) -> LoadComparison:
    """Compare two loads.

    Raises:
        DataError: they have no answered request in common.
    """
    first, second = (_answered(load) for load in (before, after))
    keys = [key for key in first if key in second]
    if not keys:
        what = "the loads have no answered request in common"
        raise DataError(what, fix="measure both with the same questions; requests are paired by their input columns")
    pairs = [(first[key], second[key]) for key in keys]
    from_due = all(load.plan.schedule.kind in ("rate", "trace") for load in (before, after))
    values = [np.array([_latencies(one, from_due=from_due) for one in side]) for side in zip(*pairs, strict=True)]
    tables = load_table(before.exchanges, before.plan.schedule), load_table(after.exchanges, after.plan.schedule)
    return LoadComparison(
        len(keys),
        [*_latency_ratios(values[0], values[1], [f"{key[0]}\0{key[2]}" for key in keys]), *_throughputs(*tables)],
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


def _latencies(one: Exchange, *, from_due: bool) -> tuple[float, ...]:
    """Return the latencies of a request (see `ais_prompt.perf.metrics`); NaN for those that it does not have."""
    pieces, tokens = one.pieces, one.output_tokens or 0
    is_streamed = bool(one.kinds) and len(pieces) > 0
    first = float(pieces[0]) if is_streamed else math.nan
    last = float(pieces[-1]) if len(pieces) else one.end
    tpot = (last - first) / (tokens - 1) if tokens > 1 and len(pieces) > 1 else math.nan
    due = one.due if from_due else math.nan
    return first - one.start, tpot, last - one.start, first - due, last - due


def _latency_ratios(
    before: NDArray[np.float64], after: NDArray[np.float64], conversations: Sequence[str]
) -> Iterator[Ratio]:
    """Yield the ratios of the percentiles of each metric, of the requests that have it in both loads."""
    for place, metric in enumerate(_METRICS):
        known = ~np.isnan(before[:, place]) & ~np.isnan(after[:, place])
        if not known.any():
            continue
        old, new = before[known, place], after[known, place]
        units = np.unique(np.array(conversations)[known], return_inverse=True)[1]
        drawn = _resampled(old, new, units)
        for column, percent in enumerate(COMPARED):
            ends = None if drawn is None else tuple(np.percentile(drawn[:, column], [2.5, 97.5]).tolist())
            yield Ratio(
                f"{metric}_p{percent}",
                one := float(np.percentile(old, percent)),
                other := float(np.percentile(new, percent)),
                other / one if one else None,
                ends,
                len(old),
                values_beyond(len(old), percent) < LEAST_BEYOND,
            )


def _resampled(
    before: NDArray[np.float64], after: NDArray[np.float64], units: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return the ratios of resamples, a row each; None for fewer than two conversations and where a value is 0."""
    count = int(units.max()) + 1
    if count < 2 or not before.all():
        return None
    order = np.argsort(units, kind="stable")
    starts = np.searchsorted(units[order], np.arange(count + 1))
    draw = np.random.default_rng(SEED)

    def places() -> NDArray[np.int64]:
        """Return the requests of as many conversations as there are, drawn with replacement."""
        chosen = draw.integers(count, size=count)
        if count == len(units):
            return order[chosen]
        return np.concatenate([order[starts[unit] : starts[unit + 1]] for unit in chosen])

    resamples = max(100, min(RESAMPLES, MOST_DRAWN // len(units)))
    some = [places() for _ in range(resamples)]
    return np.array([np.percentile(after[one], COMPARED) / np.percentile(before[one], COMPARED) for one in some])


def _throughputs(before: LoadTable, after: LoadTable) -> Iterator[Ratio]:
    for name in ("requests_per_second", "input_tokens_per_second", "output_tokens_per_second", "concurrency"):
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
