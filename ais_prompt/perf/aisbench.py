"""The tables of AISBench, with its definitions, from the exchanges of a load: other programs read these files.

Source: `default_perf.py`, `base_perf_metric_calculator.py` and its two subclasses in AISBench, 2026-08. For the same
time points the files are the same to the byte. Its definitions differ from those of `ais_prompt.perf.metrics`:

- A request starts when the client turns to it, so making a connection is part of ``TTFT`` and ``E2EL``.
- Every event of a stream is a token: the role at the beginning, so that ``TTFT`` is often that of an empty event, and
  the finish reason and the token counts at the end, so that ``E2EL`` and ``ITL`` include them.
- ``TPOT`` of an answer of one token is 0, and counts.
- The duration is that of the answered requests only. Latencies have a step of 0.1 ms.

Two things are put right: an unknown number of tokens is estimated (there it is 0), and the stable stage counts the
failures of its own requests.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct

from ais_prompt.errors import DataError
from ais_prompt.perf.exchange import Exchange, Seconds, pooled_gaps

AisbenchStage: TypeAlias = Literal["total", "stable"]
DEFAULT_STATS: Final = ("Average", "Min", "Max", "Median", "P75", "P90", "P99")
MOST_STATS: Final = 8
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
    exchanges: Sequence[Exchange], places: int, stage: AisbenchStage = "total", stats: Sequence[str] = DEFAULT_STATS
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
    answered = [_TimePoints(exchange) for exchange in exchanges if exchange.failure is None]
    if not answered:
        raise DataError("no request was answered", fix="see the failures in the journal")
    requests = len(exchanges)
    if stage == "total":
        seconds = max(one.end for one in answered) - min(one.start for one in answered)
    else:
        answered, seconds = _stable(answered, places)
        requests = len(answered)
    values = _values(answered)
    decoding = sum(one.decodes for one in answered)
    metrics = {
        name: {
            **{stat: _with_unit(name, value) for stat, value in _statistics(found, stats).items()},
            "N": decoding if name in ("TPOT", "ITL") else len(answered),
        }
        for name, found in values.items()
    }
    return AisbenchTables(metrics, _common(values, len(answered), requests, seconds, places, stage), stage)


class _TimePoints:
    """One answered request as AISBench sees it."""

    def __init__(self, exchange: Exchange) -> None:
        events = exchange.events if exchange.kinds else np.array([exchange.end])
        self.start, self.end = exchange.taken, float(events[-1])
        self.decodes = float(events[0]) < self.end
        self.exchange = exchange
        self.input_tokens, self.output_tokens = exchange.input_tokens or 0, exchange.output_tokens or 0
        self.latency = self.end - self.start
        self.ttft = float(events[0]) - self.start if exchange.kinds else 0.0
        several = exchange.kinds and self.output_tokens > 1
        self.tpot = (self.latency - self.ttft) / (self.output_tokens - 1) if several else 0.0


def _stable(answered: Sequence[_TimePoints], places: int) -> tuple[list[_TimePoints], float]:
    """Return the requests of the stable stage, and its seconds.

    It begins when a request takes the last free place for the second time, and ends with the last event after which
    all places are taken.
    """
    events = [(time, step) for one in answered for time, step in ((one.start, 1), (one.end, -1))]
    in_flight = reached = 0
    first = last = None
    for time, step in sorted(events, key=lambda event: event[0]):
        in_flight += step
        if in_flight == places:
            reached += step == 1
            first = time if step == 1 and reached == 2 else first
            last = time
    if first is None or last is None or first == last:
        what = f"there is no stable stage: {places} requests were never in flight twice"
        raise DataError(what, fix="send more requests, lower max_concurrency, or take the stage total")
    return [one for one in answered if first <= one.start <= last], last - first


def _values(answered: Sequence[_TimePoints]) -> dict[str, Any]:
    """Return the values of each metric, in the order of the table."""
    streamed = [one for one in answered if len(one.exchange.kinds) > 1]
    values: dict[str, Any] = {
        "E2EL": [one.latency for one in answered],
        "TTFT": [one.ttft for one in answered],
        "TPOT": [one.tpot for one in answered],
        "ITL": _gaps([one.exchange for one in streamed]) if streamed and streamed[0].decodes else [],
        "InputTokens": [one.input_tokens for one in answered],
        "OutputTokens": [one.output_tokens for one in answered],
        "OutputTokenThroughput": [one.output_tokens / one.latency if one.latency else 0.0 for one in answered],
        "PrefillTokenThroughput": [one.input_tokens / one.ttft if one.ttft > 0 else 0.0 for one in answered],
    }
    left_out = {"ITL"} if not len(values["ITL"]) else set()
    if not sum(values["TTFT"]):  # nothing was streamed
        left_out |= {"TTFT", "PrefillTokenThroughput"}
    if not sum(values["TPOT"]):
        left_out |= {"TPOT"}
    return {name: found for name, found in values.items() if name not in left_out}


def _common(
    values: dict[str, Any], answered: int, requests: int, seconds: float, places: int, stage: AisbenchStage
) -> dict[str, Any]:
    sent, received = sum(values["InputTokens"]), sum(values["OutputTokens"])

    def rate(amount: float) -> float | None:
        return round(amount / seconds, 4) if seconds > 0 else None

    concurrency = rate(sum(values["E2EL"])) or 0
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


def _gaps(streamed: Sequence[Exchange]) -> Seconds:
    return pooled_gaps((one.events for one in streamed), sum(len(one.kinds) - 1 for one in streamed))


def _statistics(values: Any, stats: Sequence[str]) -> dict[str, float]:
    """Return statistics of values, rounded as there; an array of values is reordered, which saves a copy of it."""
    found = np.asarray(values)
    known = {"Average": found.mean(), "Min": found.min(), "Max": found.max()}  # the mean first: its order counts
    names = check_stats(stats)
    for name in names:
        if name not in known:
            percent = 50 if name == "Median" else int(name[1:])
            known[name] = np.percentile(found, percent, overwrite_input=True)
    return {name: round(float(known[name]), 4) for name in names}


def _with_unit(metric: str, value: float) -> Any:
    """Return a statistic as the table shows it; times are in seconds."""
    return _unit(metric, round(value * 1000, 4) if _UNITS.get(metric) == " ms" else value)


def _unit(metric: str, value: Any) -> Any:
    unit = _UNITS.get(metric)
    return value if unit is None else f"{value}{unit}"
