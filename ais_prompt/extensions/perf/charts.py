"""The pictures of a load as numbers, few enough to be drawn: ``<dataset>_charts.json``.

Of many requests some are shown, evenly spaced in the order of sending. All requests are part of everything else: the
numbers in flight, the rates, the latencies against time, and the distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ais_prompt.extensions.perf.exchange import Exchange, Seconds
from ais_prompt.extensions.perf.load_files import StoredLoad
from ais_prompt.extensions.perf.metrics import in_flight_steps

MOST_REQUESTS: Final = 2000
"""Requests that are drawn."""
MOST_STEPS: Final = 1000
"""Changes of the number in flight that are drawn."""
MOST_PERIODS: Final = 60
"""Parts of the load for which rates and latencies are given, about ten requests or more in each."""
LEAST_PERIODS: Final = 10
MOST_BINS: Final = 40
"""Bins of a distribution."""
FINEST: Final = 500
"""Bins per factor of ten before they are joined: 0.5 % each."""
LEAST_EXPONENT: Final = -5
"""Exponent of the shortest time that has a bin of its own: 10 µs."""
EXPONENTS: Final = 10
BATCH: Final = 1000
"""Requests whose gaps are counted together."""
DIGITS: Final = 5
"""Decimal places of seconds: 10 µs."""


def charts_json(load: StoredLoad) -> dict[str, Any]:
    """Return the pictures of a load as JSON values; all times are seconds from its beginning.

    Returns:
        ``seconds``, its length; ``requests``: columns of the requests that are drawn, and ``of``, how many there are
        (``first`` is None for those that were not streamed, ``end`` is that of the last piece); ``in_flight``: steps;
        ``rates``: requests planned, sent and answered in each of some periods of equal length, per second;
        ``latencies``: the median and the largest of the requests sent in each period; ``distributions``: of all values,
        with edges of equal ratio.
    """
    exchanges = sorted(load.exchanges, key=lambda one: one.start)
    starts = np.array([one.start for one in exchanges])
    firsts, ends, gaps = _firsts_ends_gaps(exchanges)
    answered = np.array([one.failure is None for one in exchanges])
    length = max(float(max(one.end for one in exchanges)), 10**-DIGITS)
    edges = np.linspace(0, length, min(MOST_PERIODS, max(LEAST_PERIODS, len(exchanges) // 10)) + 1)
    latencies = {"ttft_seconds": firsts - starts, "e2el_seconds": np.where(answered, ends - starts, np.nan)}
    distributions = {name: _counts(values) for name, values in latencies.items()} | {"itl_seconds": gaps}
    due = load.plan.schedule.due if load.plan.schedule.kind in ("rate", "trace") else ()
    return {
        "seconds": round(length, DIGITS),
        "requests": _requests(starts, firsts, ends, answered),
        "in_flight": _in_flight(exchanges, length),
        "rates": {
            "planned": _rate(np.array(due), edges) if due else None,
            "sent": _rate(starts, edges),
            "answered": _rate(ends[answered], edges),
        },
        "latencies": {name: _by_period(starts, values, edges) for name, values in latencies.items()},
        "distributions": {name: found for name, counts in distributions.items() if (found := _joined(counts))},
    }


def _firsts_ends_gaps(exchanges: Sequence[Exchange]) -> tuple[Seconds, Seconds, NDArray[np.int64]]:
    """Return the first and the last piece of each request, and how many gaps between pieces fall into each fine bin."""
    firsts, ends, counts = [], [], np.zeros(FINEST * EXPONENTS, np.int64)
    for start in range(0, len(exchanges), BATCH):
        gaps = []
        for one in exchanges[start : start + BATCH]:
            pieces = one.pieces if one.failure is None else np.array([one.end])
            is_streamed = one.failure is None and len(pieces) > 0 and bool(one.kinds)
            firsts.append(float(pieces[0]) if is_streamed else np.nan)
            ends.append(float(pieces[-1]) if len(pieces) else one.end)
            gaps.append(np.diff(pieces))
        counts += _counts(np.concatenate(gaps))
    return np.array(firsts), np.array(ends), counts


def _counts(values: Seconds) -> NDArray[np.int64]:
    """Return how many values fall into each fine bin; NaN is left out."""
    exponents = np.log10(np.maximum(values[~np.isnan(values)], 10.0**LEAST_EXPONENT)) - LEAST_EXPONENT
    places = np.clip((exponents * FINEST).astype(np.int64), 0, FINEST * EXPONENTS - 1)
    return np.bincount(places, minlength=FINEST * EXPONENTS)


def _joined(counts: NDArray[np.int64]) -> dict[str, Any] | None:
    """Return at most `MOST_BINS` bins from the lowest to the highest value; None if there are no values."""
    used = np.flatnonzero(counts)
    if not len(used):
        return None
    first, width = int(used[0]), -(-(int(used[-1]) - int(used[0]) + 1) // MOST_BINS)
    starts = np.arange(first, int(used[-1]) + 1, width)
    edges = 10.0 ** (np.append(starts, starts[-1] + width) / FINEST + LEAST_EXPONENT)
    return {"edges": [float(f"{edge:.5g}") for edge in edges], "counts": np.add.reduceat(counts, starts).tolist()}


def _requests(starts: Seconds, firsts: Seconds, ends: Seconds, answered: NDArray[np.bool_]) -> dict[str, Any]:
    shown = np.unique(np.linspace(0, len(starts) - 1, min(len(starts), MOST_REQUESTS)).round().astype(int))
    return {
        "of": len(starts),
        "number": shown.tolist(),
        "start": _rounded(starts[shown]),
        "first": [None if np.isnan(first) else round(float(first), DIGITS) for first in firsts[shown]],
        "end": _rounded(ends[shown]),
        "failed": (~answered[shown]).astype(int).tolist(),
    }


def _in_flight(exchanges: Sequence[Exchange], length: float) -> dict[str, Any]:
    """Return when the number in flight changes; if it does so too often, the largest number of each period."""
    times, numbers = in_flight_steps(exchanges)
    if len(times) <= MOST_STEPS:
        return {"times": _rounded(times), "numbers": numbers.tolist(), "is_most": False}
    edges = np.linspace(0, length, MOST_STEPS + 1)
    places = np.searchsorted(times, edges)
    before = np.concatenate(([0], numbers))  # at the beginning of each period, as the steps before have left it
    most = [int(before[low : high + 1].max()) for low, high in pairwise(places)]
    return {"times": _rounded(edges[:-1]), "numbers": most, "is_most": True}


def _rate(times: Seconds, edges: Seconds) -> list[float]:
    counts = np.histogram(times, edges)[0] / (edges[1] - edges[0])
    return [float(f"{rate:.5g}") for rate in counts]


def _by_period(starts: Seconds, values: Seconds, edges: Seconds) -> dict[str, list[float | None]]:
    places = np.searchsorted(starts, edges)
    periods = [values[low:high] for low, high in pairwise(places)]
    known = [period[~np.isnan(period)] for period in periods]
    return {
        "median": [round(float(np.median(period)), DIGITS) if len(period) else None for period in known],
        "most": [round(float(period.max()), DIGITS) if len(period) else None for period in known],
    }


def _rounded(values: Seconds) -> list[float]:
    return [round(value, DIGITS) for value in values.tolist()]
