"""The numbers of a load, from its exchanges. Seconds and tokens; nothing is rounded.

A request counts from the moment at which its last byte was handed to the system (``sent``) to its last piece of
reasoning, answer or call (`Exchange.pieces`). Failures are counted and are part of no latency. ``…_from_due`` counts
from the moment at which the request was due: what a user would have waited, where the client or the server fell behind.

Intervals are those of `perf.intervals`. A percentile with fewer than `LEAST_BEYOND` values beyond it says
little, and is marked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct, field

from ais_prompt.extensions.perf.exchange import CountedGaps, Exchange, Ordered, Seconds
from ais_prompt.extensions.perf.intervals import (
    BLOCKS,
    Interval,
    independent_values,
    mean_interval,
    percentile_interval,
    rate_interval,
)
from ais_prompt.extensions.perf.schedule import Schedule

LoadStage: TypeAlias = Literal["total", "window"]
PERCENTILES: Final = (50, 75, 90, 95, 99)
LEAST_BEYOND: Final = 5
FULL: Final = 0.95
"""Share of the places that are taken while a closed load is at its full height."""
LEAST_ROUNDS: Final = 10
"""Fewest requests for each place in a window, so that its edges do not matter."""
SHORT_GAP: Final = 0.0002
"""Seconds: pieces that come faster were sent together, or read together."""


class Distribution(Struct, frozen=True):
    """The values of one metric.

    Attributes:
        n: how many there are.
        mean, least, most: their mean, the smallest and the largest one.
        percentiles: ``p50`` … → value; infinite where too many requests failed.
        intervals: ``mean``, ``p50`` … → ends of its 95 % interval; infinite where no value is extreme enough.
        thin: the percentiles with too few values beyond them.
    """

    n: int
    mean: float
    least: float
    most: float
    percentiles: Mapping[str, float]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    thin: Sequence[str] = ()


class LoadTable(Struct, frozen=True):
    """The numbers of one stage of a load.

    Attributes:
        stage: ``total`` is the whole load; ``window`` the part in which it is at its full height.
        seconds: length of the stage; of ``total`` from the first request sent to the last end of any.
        requests, answered, failed: how many begin in it.
        distributions: metric → its values; names end with their unit.
        requests_per_second: answered requests, at their ends.
        input_tokens_per_second, output_tokens_per_second: tokens of answered requests, at their ends and their events.
        concurrency, peak_concurrency: requests in flight, on average and at most.
        tokens_per_event: tokens of an answer for each event with a piece of it; 1 if each token comes alone.
        short_gaps: share of gaps between pieces that are shorter than `SHORT_GAP`.
        intervals: ``requests_per_second`` … → ends of its 95 % interval; of fewer answers than blocks there is none.
    """

    stage: LoadStage
    seconds: float
    requests: int
    answered: int
    failed: int
    distributions: Mapping[str, Distribution]
    requests_per_second: float
    input_tokens_per_second: float
    output_tokens_per_second: float
    concurrency: float
    peak_concurrency: int
    tokens_per_event: float | None = None
    short_gaps: float | None = None
    intervals: Mapping[str, Interval] = field(default_factory=dict)


def load_table(exchanges: Sequence[Exchange], schedule: Schedule) -> LoadTable:
    """Return the numbers of a whole load. Without any answer there are no distributions."""
    start, end = min(one.start for one in exchanges), max(one.end for one in exchanges)
    tokens = sum(one.output_tokens or 0 for one in exchanges if one.failure is None)
    return _table("total", exchanges, exchanges, schedule, (start, end), tokens)


def window_table(exchanges: Sequence[Exchange], schedule: Schedule) -> LoadTable | None:
    """Return the numbers of the part of a load in which it is at its full height; None if that is too short.

    Everything counts by its time: requests at their ends and tokens at their events, whenever the request began.
    Latencies are those of the requests that begin in the window, whenever they end: of those that are wholly inside the
    long ones would be missing.
    """
    window = _window(exchanges, schedule)
    if window is None or window[0] >= window[1]:
        return None
    begun = [one for one in exchanges if window[0] <= one.start <= window[1]]
    if len(begun) < LEAST_ROUNDS * (schedule.places or 1):
        return None
    tokens = sum(_tokens_between(one, *window) for one in exchanges if one.failure is None)
    return _table("window", begun, exchanges, schedule, window, tokens)


def _window(exchanges: Sequence[Exchange], schedule: Schedule) -> tuple[float, float] | None:
    """Return from when to when a load is at its full height; None if it never is.

    With places it is while they are taken. A rate is at its full height from when as many requests are in flight as on
    average in the second half of its time, to when the last one is due.
    """
    times, in_flight = in_flight_steps(exchanges)
    if schedule.places is not None:
        full = np.flatnonzero(in_flight >= FULL * schedule.places)
        return (float(times[full[0]]), float(times[min(full[-1] + 1, len(times) - 1)])) if len(full) else None
    planned = [one.due for one in exchanges if one.turn == 0]
    half = (min(planned) + max(planned)) / 2, max(planned)
    if half[0] >= half[1]:
        return None
    full = np.flatnonzero(in_flight >= FULL * _concurrency(exchanges, half)[0])
    return max(float(times[full[0]]), min(planned)), half[1]


def in_flight_steps(exchanges: Sequence[Exchange]) -> tuple[Seconds, Any]:
    """Return when the number of requests in flight changes, and the number from then on. Ends come before starts."""
    return steps_between(np.array([one.start for one in exchanges]), np.array([one.end for one in exchanges]))


def steps_between(starts: Seconds, ends: Seconds) -> tuple[Seconds, Any]:
    """Do as `in_flight_steps` with the starts and ends of requests."""
    times = np.concatenate((ends, starts))
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(np.where(order < len(ends), -1, 1))


def _concurrency(exchanges: Sequence[Exchange], window: tuple[float, float]) -> tuple[float, int]:
    """Return how many requests are in flight in a window, on average and at most."""
    starts, ends = (np.array([getattr(one, name) for one in exchanges]).clip(*window) for name in ("start", "end"))
    times, in_flight = in_flight_steps(exchanges)
    inside = in_flight[: times.searchsorted(window[1], side="right")][max(times.searchsorted(window[0]) - 1, 0) :]
    seconds = window[1] - window[0]
    return float((ends - starts).sum() / seconds) if seconds else 0.0, int(inside.max(initial=0))


def _table(
    stage: LoadStage,
    begun: Sequence[Exchange],
    exchanges: Sequence[Exchange],
    schedule: Schedule,
    window: tuple[float, float],
    tokens: float,
) -> LoadTable:
    """Return the numbers of a stage.

    Args:
        stage: its name.
        begun: the requests that begin in it, whose latencies count.
        exchanges: all requests of the load.
        schedule: of the load.
        window: from when to when.
        tokens: of answers that came in it.
    """
    seconds = window[1] - window[0]
    answered = [one for one in begun if one.failure is None]
    ended = [one for one in exchanges if one.failure is None and window[0] <= one.end <= window[1]]
    streamed = [one for one in answered if one.kinds and one.output_tokens]
    pieces = sum(map(_piece_count, streamed))
    distributions, short_gaps = _distributions(begun, schedule)
    concurrency, peak = _concurrency(exchanges, window)

    def rate(amount: float) -> float:
        return amount / seconds if seconds else 0.0

    return LoadTable(
        stage,
        seconds,
        len(begun),
        len(answered),
        len(begun) - len(answered),
        distributions,
        rate(len(ended)),
        rate(sum(one.input_tokens or 0 for one in ended)),
        rate(tokens),
        concurrency,
        peak,
        sum(one.output_tokens or 0 for one in streamed) / pieces if pieces else None,
        short_gaps,
        _rate_intervals([one for one in exchanges if one.failure is None], window)
        if len(ended) >= BLOCKS and seconds
        else {},
    )


def _rate_intervals(answered: Sequence[Exchange], window: tuple[float, float]) -> dict[str, Interval]:
    """Return the intervals of throughputs; the tokens of an answer are spread from its first to its last event."""
    seconds, edges = window[1] - window[0], np.linspace(*window, BLOCKS + 1)
    ends = np.array([one.end for one in answered])
    begins = np.array([one.taken + int(one.offsets[0]) / 1e6 if len(one.offsets) else one.end for one in answered])
    tokens, length = np.array([one.output_tokens or 0 for one in answered]), np.maximum(ends - begins, 1e-9)
    until = np.array([tokens @ np.clip((edge - begins) / length, 0, 1) for edge in edges])
    amounts = {
        "requests_per_second": np.histogram(ends, edges)[0],
        "input_tokens_per_second": np.histogram(ends, edges, weights=[one.input_tokens or 0 for one in answered])[0],
        "output_tokens_per_second": np.diff(until),
    }
    return {name: rate_interval(amount.astype(np.float64), seconds) for name, amount in amounts.items()}


def _distributions(exchanges: Sequence[Exchange], schedule: Schedule) -> tuple[dict[str, Distribution], float | None]:
    """Return the values of each metric that means something for this load, and the share of short gaps."""
    in_order = sorted(exchanges, key=lambda one: one.start)
    answered = [one for one in in_order if one.failure is None]
    if not answered:
        return {}, None
    start, due, end = (np.array([getattr(one, name) for one in answered]) for name in ("start", "due", "end"))
    sent = np.array([one.input_tokens or 0 for one in answered], np.float64)
    tokens = np.array([one.output_tokens or 0 for one in answered], np.float64)
    pieces = np.array([_piece_count(one) for one in answered])
    streamed, first, last = pieces > 0, start.copy(), end.copy()
    for place in np.flatnonzero(streamed).tolist():
        first[place], last[place] = answered[place].pieces[[0, -1]]
    several = (tokens > 1) & (pieces > 1)
    took = last - start
    values: dict[str, Seconds] = {
        "ttft_seconds": (first - start)[streamed],
        "ttfo_seconds": np.array([_first_answer(one) - one.start for one in answered if _thinks(one)]),
        "e2el_seconds": took,
        "tpot_seconds": (last - first)[several] / (tokens[several] - 1),
        "input_tokens": sent,
        "output_tokens": tokens,
        "answer_tokens_per_second": tokens[took > 0] / took[took > 0],
        "queue_seconds": start - due,
    }
    turns = np.array([one.turn for one in answered])
    if 0 < np.count_nonzero(turns) < len(turns):  # a server may have the beginning of a later turn in its cache
        values["ttft_first_turn_seconds"] = (first - start)[streamed & (turns == 0)]
        values["ttft_later_turns_seconds"] = (first - start)[streamed & (turns > 0)]
    if schedule.is_open:
        values["ttft_from_due_seconds"] = (first - due)[streamed]
        values["e2el_from_due_seconds"] = last - due
        if len(answered) < len(in_order):
            waits = iter((last - due).tolist())
            each = [math.inf if one.failure is not None else next(waits) for one in in_order]
            values["e2el_from_due_with_failures_seconds"] = np.array(each)
    spans, counts = (last - first)[streamed], pieces[streamed] - 1.0
    found = {name: distribution(all_of) for name, all_of in values.items() if len(all_of)}
    blocks = [CountedGaps(one.piece_offsets for one in part) for part in _blocks(answered)]
    gaps = CountedGaps.together(blocks)
    if not len(gaps):
        return found, None
    sizes = np.array([len(one) for one in blocks], np.float64)

    def independent(value: float) -> float:
        return independent_values(np.array([one.up_to(value) for one in blocks], np.float64), sizes)

    found["itl_seconds"] = _distribution(gaps, gaps.mean, mean_interval(spans, counts), independent)
    return found, gaps.shorter_than(SHORT_GAP) / len(gaps)


def _blocks(answered: Sequence[Exchange]) -> Iterator[Sequence[Exchange]]:
    """Yield up to `BLOCKS` parts of the same length."""
    edges = np.linspace(0, len(answered), min(BLOCKS, len(answered)) + 1).astype(int)
    yield from (answered[start:end] for start, end in pairwise(edges.tolist()))


def _thinks(one: Exchange) -> bool:
    """Return whether there are pieces of reasoning, and others."""
    return "r" in one.kinds and bool(one.kinds.strip("ro"))


def _piece_count(one: Exchange) -> int:
    return len(one.kinds) - one.kinds.count("o")


def _first_answer(one: Exchange) -> float:
    """Return when the first piece of an answer or of a call came."""
    return float(one.events[next(place for place, kind in enumerate(one.kinds) if kind in "at")])


def _tokens_between(one: Exchange, start: float, end: float) -> float:
    """Return the tokens of an answer that came between two times; each event has the same share of them."""
    pieces = one.pieces
    inside = int(np.count_nonzero((start <= pieces) & (pieces <= end)))
    return (one.output_tokens or 0) * inside / len(pieces) if len(pieces) else 0.0


def distribution(values: Seconds) -> Distribution:
    """Return the statistics of at least one value in the order of their time; infinite ones are allowed."""
    finite, counts = values[np.isfinite(values)], np.ones(len(values))

    def independent(value: float) -> float:
        return independent_values((values <= value).astype(np.float64), counts)

    mean = float(finite.mean()) if len(finite) else math.inf
    return _distribution(np.sort(values), mean, mean_interval(finite), independent)


def _distribution(
    ordered: Ordered, mean: float, mean_ends: Interval | None, independent: Callable[[float], float]
) -> Distribution:
    """Return the statistics of values in their order, at least one.

    Args:
        ordered: the values.
        mean, mean_ends: of the finite ones, and its interval. Values of one request are alike, so where a request has
            several it is that of a mean over requests.
        independent: returns how many independent values show a percentile with this value.
    """
    n = len(ordered)
    percentiles = {f"p{percent}": percentile(ordered, percent) for percent in PERCENTILES}
    intervals = {
        f"p{percent}": percentile_interval(ordered, percent, independent(percentiles[f"p{percent}"]))
        for percent in PERCENTILES
    }
    return Distribution(
        n,
        mean,
        float(ordered[0]),
        float(ordered[n - 1]),
        percentiles,
        intervals if mean_ends is None else intervals | {"mean": mean_ends},
        [f"p{percent}" for percent in PERCENTILES if values_beyond(n, percent) < LEAST_BEYOND],
    )


def values_beyond(n: int, percent: float) -> float:
    """Return how many of n values are beyond a percentile, on its thinner side."""
    return n * min(percent, 100 - percent) / 100


def firm_p99(values: Seconds) -> float:
    """Return the 99th percentile, or the highest one with `LEAST_BEYOND` of at least one value beyond it.

    Of 150 values, two would make the 99th: one pause of the machine is no property of the whole load.
    """
    return min(float(np.percentile(values, 99)), float(np.sort(values)[max(0, len(values) - 1 - LEAST_BEYOND)]))


def percentile(ordered: Ordered, percent: float) -> float:
    """Return a percentile with linear interpolation, as numpy has it; infinite next to an infinite value."""
    place = percent / 100 * (len(ordered) - 1)
    below, above = float(ordered[int(place)]), float(ordered[math.ceil(place)])
    return below if below == above else below + (above - below) * (place - int(place))


def latencies(one: Exchange, start: float) -> dict[str, float]:
    """Return the latencies of an answered request in seconds; NaN for those that it does not have.

    Args:
        one: the request.
        start: from when its user waits.
    """
    first, tpot, last = marks_of(one)
    return {"ttft_seconds": first - start, "tpot_seconds": tpot, "e2el_seconds": last - start}


def marks_of(one: Exchange) -> tuple[float, float, float]:
    """Return the time of the first piece of an answer, the seconds between pieces, and the time of the last piece."""
    pieces, tokens = one.pieces, one.output_tokens or 0
    # One that was not streamed has no first piece.
    first = float(pieces[0]) if one.kinds and len(pieces) else math.nan
    last = float(pieces[-1]) if len(pieces) else one.end
    return first, (last - first) / (tokens - 1) if tokens > 1 and len(pieces) > 1 else math.nan, last
