"""Goals for latencies (SLOs): which requests meet them, how many a second, and whether each goal is met.

A request counts from the moment at which it was due where it has one (rates and traces): that is what a user waits.
Failures meet nothing, and are infinite in percentiles. An answer of one token has no TPOT and meets every goal for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from ais_prompt.extensions.perf.exchange import Exchange, Seconds
from ais_prompt.extensions.perf.intervals import independent_values, percentile_interval
from ais_prompt.extensions.perf.metrics import LEAST_BEYOND, LoadTable, percentile, values_beyond
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.extensions.perf.section import Slo


class SloResult(Struct, frozen=True):
    """Whether one goal is met.

    Attributes:
        text: the goal as it was written.
        value: the percentile in seconds, or the largest value; infinite if failures decide it, None without values.
        interval: its 95 % interval; None of a goal for every request.
        met: whether it is at most the limit.
        share: of all requests that are within the limit.
        thin: whether too few values are beyond the percentile.
    """

    text: str
    value: float | None
    interval: tuple[float, float] | None
    met: bool
    share: float
    thin: bool = False


class Goodput(Struct, frozen=True):
    """Requests that meet all limits.

    Attributes:
        requests_per_second: how many, over the length of the load.
        share: of all requests, failures included.
        slos: each goal.
    """

    requests_per_second: float
    share: float
    slos: Sequence[SloResult]

    @property
    def met(self) -> bool:
        """Whether all goals are met."""
        return all(one.met for one in self.slos)


def goodput(exchanges: Sequence[Exchange], schedule: Schedule, table: LoadTable, slos: Sequence[Slo]) -> Goodput | None:
    """Return which requests of a load meet the goals; None without goals.

    Args:
        exchanges: at least one.
        schedule: of the load.
        table: its numbers, of the stage ``total``.
        slos: the goals.
    """
    if not slos:
        return None
    exchanges = sorted(exchanges, key=lambda one: one.start)
    values = {metric: request_values(exchanges, schedule, metric) for metric in {one.metric for one in slos}}
    good = np.ones(len(exchanges), bool)
    for slo in slos:
        good &= ~(values[slo.metric] > slo.limit)  # NaN: no value, nothing to miss
    share = float(good.mean())
    per_second = int(good.sum()) / table.seconds if table.seconds else 0.0
    return Goodput(per_second, share, [_result(slo, values[slo.metric]) for slo in slos])


def request_values(exchanges: Sequence[Exchange], schedule: Schedule, metric: str) -> Seconds:
    """Return a latency of each request in seconds: infinite after a failure, NaN if it has none."""
    return np.array(
        [
            math.inf if one.failure is not None else latencies(one, one.due if schedule.is_open else one.start)[metric]
            for one in exchanges
        ]
    )


def latencies(one: Exchange, start: float) -> dict[str, float]:
    """Return the latencies of an answered request in seconds; NaN for those that it does not have.

    Args:
        one: the request.
        start: from when its user waits.
    """
    pieces, tokens = one.pieces, one.output_tokens or 0
    # One that was not streamed has no first piece.
    first = float(pieces[0]) if one.kinds and len(pieces) else math.nan
    last = float(pieces[-1]) if len(pieces) else one.end
    tpot = (last - first) / (tokens - 1) if tokens > 1 and len(pieces) > 1 else math.nan
    return {"ttft_seconds": first - start, "tpot_seconds": tpot, "e2el_seconds": last - start}


def _result(slo: Slo, values: Seconds) -> SloResult:
    share = float((~(values > slo.limit)).mean())
    known = values[~np.isnan(values)]  # in the order of their time
    ordered = np.sort(known)
    if not len(ordered):
        return SloResult(slo.text, None, None, met=False, share=share)
    if slo.percent is None:
        return SloResult(slo.text, float(ordered[-1]), None, met=bool(ordered[-1] <= slo.limit), share=share)
    value = percentile(ordered, slo.percent)
    thin = values_beyond(len(ordered), slo.percent) < LEAST_BEYOND
    independent = independent_values((known <= value).astype(np.float64), np.ones(len(known)))
    interval = percentile_interval(ordered, slo.percent, independent)
    return SloResult(slo.text, value, interval, met=value <= slo.limit, share=share, thin=thin)
