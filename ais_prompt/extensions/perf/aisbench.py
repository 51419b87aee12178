"""The tables of AISBench, with its definitions, from the exchanges of a load: other programs read these files.

Source: `default_perf.py`, `base_perf_metric_calculator.py` and its two subclasses in AISBench, 2026-08. For the same
time points the files are the same to the byte. Its definitions differ from those of `perf.metrics`:

- A request starts when the client turns to it, so making a connection is part of ``TTFT`` and ``E2EL``.
- Every event of a stream is a token: the role at the beginning, so that ``TTFT`` is often that of an empty event, and
  the finish reason and the token counts at the end, so that ``E2EL`` and ``ITL`` include them.
- ``TPOT`` of an answer of one token is 0, and counts.
- The duration is that of the answered requests only. Latencies have a step of 0.1 ms.

Above `MOST_POOLED` gaps their statistics come from whole microseconds, so a value halfway between two steps of 0.1 ms
may be rounded to the other one.

Two things are put right: an unknown number of tokens is estimated (there it is 0), and the stable stage counts the
failures of its own requests.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.exchange import CountedGaps, Exchange, Ordered, pooled_gaps
from ais_prompt.extensions.perf.metrics import percentile
from ais_prompt.extensions.perf.section import STATS

AisbenchStage: TypeAlias = Literal["total", "stable"]
MOST_STATS: Final = 8
MOST_POOLED: Final = 10_000_000
"""Most gaps that are kept, each with the error of its floating-point difference, which decides how a tie is rounded."""
_PERCENTILE: Final = re.compile(r"P(0*[1-9]\d?)")
_UNITS: Final = {
    **dict.fromkeys(("E2EL", "TTFT", "TPOT", "ITL", "Benchmark Duration"), " ms"),
    **dict.fromkeys(("OutputTokenThroughput", "PrefillTokenThroughput", "Input Token Throughput"), " token/s"),
    **dict.fromkeys(("Output Token Throughput", "Total Token Throughput"), " token/s"),
    "Request Throughput": " req/s",
}


class AisbenchTables(Struct, frozen=True):
    """The two tables of one load.

    Attributes:
        metrics: metric → statistic → value with its unit; ``N`` is the number of requests.
        common: metric → value with its unit.
        stage: of the load.
    """

    metrics: dict[str, dict[str, Any]]
    common: dict[str, Any]
    stage: AisbenchStage

    @property
    def csv(self) -> str:
        """The content of ``<dataset>.csv``."""
        stream = io.StringIO()
        writer = csv.writer(stream)
        writer.writerow(["Performance Parameters", "Stage", *next(iter(self.metrics.values()))])
        writer.writerows([name, self.stage, *stats.values()] for name, stats in self.metrics.items())
        return stream.getvalue()

    @property
    def json(self) -> str:
        """The content of ``<dataset>.json``."""
        values = {name: {} if value is None else {self.stage: value} for name, value in self.common.items()}
        return json.dumps(values, indent=4, ensure_ascii=False)


def check_stats(stats: Sequence[str]) -> tuple[str, ...]:
    """Return the statistics that AISBench knows, at most eight; ``Average`` if there is none."""
    known = ("Average", "Min", "Max", "Median")
    return tuple(one for one in stats[:MOST_STATS] if one in known or _PERCENTILE.fullmatch(one)) or known[:1]


def aisbench_tables(
    exchanges: Sequence[Exchange], places: int, stage: AisbenchStage = "total", stats: Sequence[str] = STATS
) -> AisbenchTables:
    """Return the tables of a load.

    Args:
        exchanges: all requests of the load.
        places: the most requests in flight, as the config has it.
        stage: ``total``, or ``stable`` for the requests that start while all places are taken.
        stats: ``Average``, ``Min``, ``Max``, ``Median``, and ``P1`` to ``P99``.

    Raises:
        DataError: no request was answered, or there is no stable stage.
    """
    answered = _TimePoints([exchange for exchange in exchanges if exchange.failure is None])
    if not answered.exchanges:
        raise DataError("no request was answered", fix="see the failures in the journal")
    requests = len(exchanges)
    if stage == "total":
        seconds = float(answered.end.max() - answered.start.min())
    else:
        answered, seconds = _stable(answered, places)
        requests = len(answered.exchanges)
    values, number = _values(answered), len(answered.exchanges)
    metrics = {
        name: {
            **{stat: _with_unit(name, value) for stat, value in _statistics(found, stats).items()},
            "N": answered.decodes if name in ("TPOT", "ITL") else number,
        }
        for name, found in values.items()
    }
    return AisbenchTables(metrics, _common(values, number, requests, seconds, places, stage), stage)


class _TimePoints:
    """Answered requests as AISBench sees them: an array with a value for each.

    Attributes:
        exchanges: the requests.
        start, end: when the client turned to it, and its last event.
        first: its first event; its start if it was not streamed.
        input_tokens, output_tokens: of prompt and answer.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self.exchanges = exchanges
        self.start = np.array([one.taken for one in exchanges])
        self.end = np.array([one.end for one in exchanges])
        self.first = self.start.copy()
        for place, one in enumerate(exchanges):
            if one.kinds:
                self.first[place], self.end[place] = one.events[[0, -1]]
        self.input_tokens, self.output_tokens = (
            np.array([getattr(one, name) or 0 for one in exchanges]) for name in ("input_tokens", "output_tokens")
        )

    @property
    def decodes(self) -> int:
        """How many requests have a gap that is not 0."""
        streamed = np.array([bool(one.kinds) for one in self.exchanges])
        return int(np.count_nonzero(streamed & (self.first < self.end)))


def _stable(answered: _TimePoints, places: int) -> tuple[_TimePoints, float]:
    """Return the requests of the stable stage, and its seconds.

    It begins when a request takes the last free place for the second time, and ends with the last event after which
    all places are taken.
    """
    times = np.column_stack((answered.start, answered.end)).ravel()
    order = np.argsort(times, kind="stable")
    is_start = order % 2 == 0
    full = np.cumsum(np.where(is_start, 1, -1)) == places
    begins = times[order][full & is_start]
    if len(begins) < 2 or begins[1] == (last := times[order][full][-1]):
        what = f"there is no stable stage: {places} requests were never in flight twice"
        raise DataError(what, fix="send more requests, lower max_concurrency, or take the stage total")
    inside = (begins[1] <= answered.start) & (answered.start <= last)
    return _TimePoints([answered.exchanges[place] for place in np.flatnonzero(inside).tolist()]), float(
        last - begins[1]
    )


def _values(answered: _TimePoints) -> dict[str, Ordered]:
    """Return the values of each metric, in the order of the table."""
    streamed = [one for one in answered.exchanges if len(one.kinds) > 1]
    latency, ttft, tokens = answered.end - answered.start, answered.first - answered.start, answered.output_tokens
    several = np.array([bool(one.kinds) for one in answered.exchanges]) & (tokens > 1)
    tpot = np.divide(latency - ttft, tokens - 1, out=np.zeros(len(latency)), where=several)
    values: dict[str, Ordered] = {
        "E2EL": latency,
        "TTFT": ttft,
        "TPOT": tpot,
        "ITL": _gaps(streamed) if streamed and streamed[0].offsets[0] < streamed[0].offsets[-1] else np.empty(0),
        "InputTokens": answered.input_tokens,
        "OutputTokens": tokens,
        "OutputTokenThroughput": np.divide(tokens, latency, out=np.zeros(len(latency)), where=latency != 0),
        "PrefillTokenThroughput": np.divide(answered.input_tokens, ttft, out=np.zeros(len(latency)), where=ttft > 0),
    }
    left_out = set() if len(values["ITL"]) else {"ITL"}
    if not ttft.any():  # nothing was streamed
        left_out |= {"TTFT", "PrefillTokenThroughput"}
    if not tpot.any():
        left_out |= {"TPOT"}
    return {name: found for name, found in values.items() if name not in left_out}


def _common(
    values: Mapping[str, Any], answered: int, requests: int, seconds: float, places: int, stage: AisbenchStage
) -> dict[str, Any]:
    sent, received = int(values["InputTokens"].sum()), int(values["OutputTokens"].sum())

    def rate(amount: float) -> float | None:
        return round(amount / seconds, 4) if seconds > 0 else None

    concurrency = rate(sum(values["E2EL"].tolist())) or 0
    common = {
        "Benchmark Duration": round(seconds * 1000, 4),
        "Total Requests": requests,
        "Failed Requests": requests - answered,
        "Success Requests": answered,
        "Concurrency": min(concurrency, places) if stage == "stable" else concurrency,
        "Max Concurrency": places,
        "Request Throughput": rate(answered) or 0,
        "Total Input Tokens": sent,
        "Total Generated Tokens": received,
        "Input Token Throughput": rate(sent),
        "Output Token Throughput": rate(received),
        "Total Token Throughput": rate(sent + received),
    }
    return {name: None if value is None else _unit(name, value) for name, value in common.items()}


def _gaps(streamed: Sequence[Exchange]) -> Ordered:
    number = sum(len(one.kinds) - 1 for one in streamed)
    if number > MOST_POOLED:
        return CountedGaps(one.offsets for one in streamed)
    return pooled_gaps((one.events for one in streamed), number)


def _statistics(values: Ordered, stats: Sequence[str]) -> dict[str, float]:
    """Return statistics of values, rounded as there."""
    if isinstance(values, CountedGaps):
        known = {"Average": values.mean, "Min": values[0], "Max": values[len(values) - 1]}
        percentile_of = partial(percentile, values)
    else:
        known = {"Average": values.mean(), "Min": values.min(), "Max": values.max()}
        percentile_of = partial(np.percentile, values)
    names = check_stats(stats)
    for name in names:
        if name not in known:
            known[name] = percentile_of(50 if name == "Median" else int(name[1:]))
    return {name: round(float(known[name]), 4) for name in names}


def _with_unit(metric: str, value: float) -> Any:
    """Return a statistic as the table shows it; times are in seconds."""
    return _unit(metric, round(value * 1000, 4) if _UNITS.get(metric) == " ms" else value)


def _unit(metric: str, value: Any) -> Any:
    unit = _UNITS.get(metric)
    return value if unit is None else f"{value}{unit}"
