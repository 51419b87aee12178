"""The tables that other tools print of a load: the same journal, by their definitions, names, units and percentiles.

The same name means different things in these tools, so their tables do not compare. A `Tool` says how one of them
measures a request, and `tool_values` applies it. A metric without values is left out; some of them print 0 there. The
tables of AISBench are in `perf.aisbench`, and are equal to the character.

All of these tools take the start of a request before they have a connection: ``taken`` of an `Exchange`. Sources, of
August and September 2026: `vllm/benchmarks/serve.py` and `lib/endpoint_request_func.py`; `sglang/benchmark/metrics.py`
and its `oai_chat_client.py`; `evalscope/perf/utils/db_util.py`, `perf_constants.py`, `plugin/api/default_api.py` and
`utils/benchmark_util.py`; `guidellm/benchmark/outputs/console.py`, `schemas/statistics.py` and `request_stats.py`;
`aiperf/exporters/console_metrics_exporter.py` and `metrics/types`. Of AISBench: `_output_to_screen` of its
`default_perf.py`, which prints the two files with tabulate's format ``fancy_grid``.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from msgspec import Struct
from rich.console import Console

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.aisbench import AisbenchTables
from ais_prompt.extensions.perf.documents import ToolSection, Value
from ais_prompt.extensions.perf.exchange import Exchange, Seconds, pooled_gaps
from ais_prompt.extensions.perf.load_files import StoredLoad
from ais_prompt.extensions.perf.metrics import in_flight_steps, steps_between
from ais_prompt.extensions.perf.options import ToolName
from ais_prompt.terminal import Column, print_heading, print_table

EVALSCOPE_PERCENTS: Final = (1, 5, 10, 25, 50, 75, 90, 95, 99)
STEP: Final = 1e-6
"""Seconds: the step of times in the journal, so no stage is shorter."""


def tool_sections(load: StoredLoad, name: ToolName) -> list[ToolSection]:
    """Return the tables of a load as a tool prints them.

    Args:
        load: as it is stored.
        name: of the tool.

    Raises:
        DataError: no request was answered.
    """
    values = tool_values(load.exchanges, TOOLS[name])
    if not len(values.start):
        raise DataError("no request was answered", fix="see the failures in the journal")
    return _SECTIONS[name](load, values)


def _vllm(load: StoredLoad, values: ToolValues) -> list[ToolSection]:
    answered, sent, received = len(values.start), _sum(values.input_tokens), _sum(values.output_tokens)
    schedule, seconds = load.plan.schedule, _loop_seconds(load)
    waits = np.array([one.taken - one.due for one in load.exchanges if one.failure is None])
    limited = schedule.places is not None and schedule.rate is not None
    head: dict[str, Value] = {
        "Successful requests:": answered,
        "Failed requests:": len(load.exchanges) - answered,
        "Maximum request concurrency:": schedule.places,
        "Request rate configured (RPS):": schedule.rate,
        "Benchmark duration (s):": seconds,
        "Total input tokens:": sent,
        "Total generated tokens:": received,
        "Request throughput (req/s):": answered / seconds,
        "Output token throughput (tok/s):": received / seconds,
        "Peak output token throughput (tok/s):": _peak_events(load.exchanges, values),
        "Peak concurrent requests:": float(steps_between(values.start, values.start + values.latency)[1].max()),
        "Total token throughput (tok/s):": (sent + received) / seconds,
    }
    metrics: dict[str, tuple[str, Any]] = {
        "Time to First Token": ("TTFT", _known(values.ttft)),
        "Time per Output Token (excl. 1st token)": ("TPOT", _known(values.tpot[values.output_tokens > 1])),
        "Inter-token Latency": ("ITL", values.gaps),
        "End-to-end Latency": ("E2EL", values.latency),
        "Client-side Queueing": ("Client Queue Time", waits if limited else ()),
        "Queue-inclusive End-to-end Latency": ("E2EL incl. Client Queue", values.latency + waits if limited else ()),
    }
    return [_listed("Serving Benchmark Result", head), *_sections_in_ms(metrics, {"P99": 99})]


def _sglang(load: StoredLoad, values: ToolValues) -> list[ToolSection]:
    answered, sent, received = len(values.start), _sum(values.input_tokens), _sum(values.output_tokens)
    schedule, seconds = load.plan.schedule, _loop_seconds(load)
    head: dict[str, Value] = {
        "Traffic request rate:": "trace" if schedule.kind == "trace" else (schedule.rate or "inf"),
        "Max request concurrency:": schedule.places or "not set",
        "Successful requests:": answered,
        "Benchmark duration (s):": seconds,
        "Total input tokens:": sent,
        "Total generated tokens:": received,
        "Request throughput (req/s):": answered / seconds,
        "Input token throughput (tok/s):": sent / seconds,
        "Output token throughput (tok/s):": received / seconds,
        "Total token throughput (tok/s):": (sent + received) / seconds,
        "Concurrency:": float(values.latency.sum()) / seconds,
    }
    first: dict[str, tuple[str, Any]] = {
        "End-to-End Latency": ("E2E Latency", values.latency),
        "Time to First Token": ("TTFT", _known(values.ttft)),
        "Time per Output Token (excl. 1st token)": ("TPOT", _known(values.tpot[values.output_tokens > 1])),
    }
    gaps = {"Inter-Token Latency": ("ITL", values.gaps)}
    return [
        _listed("Serving Benchmark Result", head),
        *_sections_in_ms(first, {"P99": 99}),
        *_sections_in_ms(gaps, {"P95": 95, "P99": 99, "Max": 100}),
    ]


def _evalscope(load: StoredLoad, values: ToolValues) -> list[ToolSection]:
    answered, sent, received = len(values.start), _sum(values.input_tokens), _sum(values.output_tokens)
    seconds = _span(load.exchanges)
    tpot, schedule = _known(values.tpot), load.plan.schedule
    summary: dict[str, Value] = {
        "Test Duration (s)": seconds,
        "Concurrency": load.plan.max_concurrency,
        "Request Rate (req/s)": -1.0 if schedule.rate is None else schedule.rate,
        "Total / Success / Failed": f"{len(load.exchanges)} / {answered} / {len(load.exchanges) - answered}",
        "Req Throughput (req/s)": answered / seconds,
        "Avg Latency (s)": float(values.latency.mean()),
        "Avg TTFT (ms)": _mean(1000 * _known(values.ttft)),
        "Avg TPOT (ms)": _mean(1000 * tpot),
        "Avg ITL (ms)": _mean(values.gaps, 1000),
        "Avg Input Tokens": sent / answered,
        "Avg Output Tokens": received / answered,
        "Output Throughput (tok/s)": received / seconds,
        "Total Throughput (tok/s)": (sent + received) / seconds,
    }
    took = values.latency > 0
    metrics = {
        "Latency (s)": values.latency,
        "TTFT (ms)": 1000 * _known(values.ttft),
        "ITL (ms)": values.gaps,
        "TPOT (ms)": 1000 * tpot[tpot > 0],
        "Input tokens": values.input_tokens,
        "Output tokens": values.output_tokens,
        "Output (tok/s)": values.output_tokens[took] / values.latency[took],
        "Total (tok/s)": (values.input_tokens + values.output_tokens)[took] / values.latency[took],
        "Decode (tok/s)": 1 / tpot[tpot > 0],
    }
    shares = np.array([0, *EVALSCOPE_PERCENTS, 100]) / 100
    rows = {
        name: (_nearest(found, shares) * (1000 if name == "ITL (ms)" else 1)).tolist()
        for name, found in metrics.items()
        if len(found)
    }
    columns = ("min", *(f"{percent}%" for percent in EVALSCOPE_PERCENTS), "max")
    return [_listed("Benchmarking summary", summary), ToolSection("Percentile results", rows, columns)]


def _guidellm(load: StoredLoad, values: ToolValues) -> list[ToolSection]:
    requests, seconds = load.exchanges, _span(load.exchanges)
    tokens, streamed = values.output_tokens, ~np.isnan(values.decoding)
    last = values.start + values.ttft + values.decoding
    several = streamed & (tokens > 1)
    decoded = streamed & (tokens > 0)
    metrics: dict[str, tuple[Seconds, Seconds | None]] = {  # the weight of each value; None for 1
        "Request Latency (Sec)": (values.latency, None),
        "TTFT (ms)": (1000 * _known(values.ttft), None),
        "ITL (ms)": (1000 * values.decoding[several] / (tokens[several] - 1), tokens[several] - 1),
        "TPOT (ms)": (1000 * (last - values.start)[decoded] / tokens[decoded], tokens[decoded]),
        "Input Tok (Per Req)": (values.input_tokens, None),
        "Output Tok (Per Req)": (tokens, None),
        "Total Tok (Per Req)": (values.input_tokens + tokens, None),
    }
    latency = {
        name: _nearest(found, np.array([0.5, 0.95]), weights).tolist()
        for name, (found, weights) in metrics.items()
        if len(found)
    }
    times, in_flight = in_flight_steps(requests)
    lengths = np.diff(times)
    first = values.start + values.ttft

    def rate(amount: Seconds, begun: Seconds, ended: Seconds) -> float | None:
        """Return tokens a second: there they count from the first of their events to the last, not from the start."""
        took = float(np.nanmax(ended) - np.nanmin(begun)) if np.any(streamed) else 0.0
        return float(amount.sum()) / took if took else None

    throughput: dict[str, Sequence[Value]] = {
        "Requests Concurrency": (
            float(_nearest(in_flight[:-1].astype(float), np.array([0.5]), lengths)[0]),
            float(np.sum(in_flight[:-1] * lengths)) / seconds,
        ),
        "Requests Per Sec": (None, len(requests) / seconds),
        "Input Tokens Per Sec": (None, rate(values.input_tokens, first, first)),
        "Output Tokens Per Sec": (None, rate(tokens, first, last)),
    }
    return [
        ToolSection("Request Latency and Token Statistics (Completed Requests)", latency, ("Mdn", "p95")),
        ToolSection("Server Throughput Statistics (All Requests)", throughput, ("Mdn", "Mean")),
    ]


def _aiperf(load: StoredLoad, values: ToolValues) -> list[ToolSection]:  # noqa: ARG001
    seconds = max(STEP, float((values.start + values.latency).max() - values.start.min()))
    several = values.output_tokens > 1
    itl = _known(values.tpot[several])
    metrics = {
        "Time to First Token (ms)": 1000 * _known(values.ttft),
        "Request Latency (ms)": 1000 * values.latency,
        "Inter Token Latency (ms)": 1000 * itl,
        "Output Token Throughput Per User (tokens/sec/user)": 1 / itl[itl > 0],
        "Inter Chunk Latency (ms)": values.gaps,
        "Output Sequence Length (tokens)": values.output_tokens,
        "Input Sequence Length (tokens)": values.input_tokens,
    }
    rows: dict[str, Sequence[Value]] = {}
    for name, found in metrics.items():
        if len(found):
            scale = 1000 if name == "Inter Chunk Latency (ms)" else 1
            p99, p90, p50 = np.percentile(found, [99, 90, 50])
            stats = (found.mean(), found.min(), found.max(), p99, p90, p50, found.std())
            rows[name] = [scale * float(one) for one in stats]
    alone = (None,) * 6
    rows["Output Token Throughput (tokens/sec)"] = (_sum(values.output_tokens) / seconds, *alone)
    rows["Request Throughput (requests/sec)"] = (len(values.start) / seconds, *alone)
    rows["Request Count (requests)"] = (float(len(values.start)), *alone)
    return [ToolSection("LLM Metrics", rows, ("avg", "min", "max", "p99", "p90", "p50", "std"))]


_SECTIONS: Final[Mapping[ToolName, Callable[[StoredLoad, ToolValues], list[ToolSection]]]] = {
    "vllm": _vllm,
    "sglang": _sglang,
    "evalscope": _evalscope,
    "guidellm": _guidellm,
    "aiperf": _aiperf,
}


def _listed(title: str, values: Mapping[str, Value]) -> ToolSection:
    """Return a table of one value each, without what is not known."""
    return ToolSection(title, {name: (value,) for name, value in values.items() if value is not None})


def _sections_in_ms(metrics: Mapping[str, tuple[str, Any]], percents: Mapping[str, int]) -> list[ToolSection]:
    """Return a table for each metric that has values: mean, median and percentiles with linear interpolation."""
    sections = []
    for title, (name, values) in metrics.items():
        if len(values):
            found = np.percentile(values, [50, *percents.values()])
            stats = dict(zip(("Mean", "Median", *percents), [np.mean(values), *found], strict=True))
            sections.append(_listed(title, {f"{stat} {name} (ms):": 1000 * float(one) for stat, one in stats.items()}))
    return sections


def _nearest(values: Seconds, shares: Any, weights: Seconds | None = None) -> Seconds:
    """Return quantiles by nearest rank: the first value that has at least the share of the weight at or below it."""
    order = np.argsort(values)
    weight = np.ones(len(values)) if weights is None else weights[order]
    reached = np.cumsum(weight) / weight.sum() if weight.sum() else np.linspace(1 / len(values), 1, len(values))
    places = np.searchsorted(reached, np.asarray(shares) - 1e-12)
    return np.asarray(values[order][np.minimum(places, len(values) - 1)])


def _peak_events(exchanges: Sequence[Exchange], values: ToolValues) -> float:
    """Return the most events of tokens in a second, counted from the first start."""
    start = float(values.start.min())
    counts = np.zeros(math.ceil(float((values.start + values.latency).max()) - start) + 1)
    for one in exchanges:
        if one.failure is None and len(times := token_times(one, TOOLS["vllm"])):
            second, number = np.unique((times - start).astype(int), return_counts=True)
            counts[second] += number
    return float(counts.max())


def _loop_seconds(load: StoredLoad) -> float:
    """Return the length of the loop that sends: from its beginning, not the first request, to the end of the last."""
    return max(STEP, *(one.end for one in load.exchanges))


def _span(exchanges: Sequence[Exchange]) -> float:
    """Return the seconds from the first start to the last end of any request."""
    return max(STEP, max(one.end for one in exchanges) - min(one.taken for one in exchanges))


def _known(values: Seconds) -> Seconds:
    return values[~np.isnan(values)]


def _mean(values: Seconds, scale: float = 1) -> float | None:
    return scale * float(values.mean()) if len(values) else None


def _sum(values: Seconds) -> int:
    return int(values.sum())


class Tool(Struct, frozen=True):
    """How a tool measures one request.

    Attributes:
        kinds: the kinds of events that it takes for tokens (`Exchange.kinds`). ``o`` covers all events that bring
            no text, except the last one of a stream with token counts: OpenAI's ``include_usage`` sends that one last
            and without ``choices``.
        end: what ends the latency of a streamed answer: its last ``token``, the last ``event`` of any kind, or the end
            of the ``reply``.
        tokens: the tokens of an answer.
        empty_ttft: the TTFT of a stream without tokens; NaN if it has none.
        whole_is_token: whether an answer that is not streamed has its whole latency as TTFT; else it has none.
    """

    kinds: str
    end: Literal["token", "event", "reply"]
    tokens: Callable[[Exchange], int]
    empty_ttft: float = 0.0
    whole_is_token: bool = False


class ToolValues(Struct, frozen=True):
    """What a tool measures: arrays with a value for each answered request, in seconds and tokens.

    Attributes:
        start, latency: when it began, and how long it took.
        ttft: seconds to the first token; NaN if there was none.
        decoding: seconds from the first to the last token; NaN as well.
        input_tokens, output_tokens: of the prompt and of the answer.
        events: how many events were taken for tokens.
        gaps: seconds between them, of all requests.
    """

    start: Seconds
    latency: Seconds
    ttft: Seconds
    decoding: Seconds
    input_tokens: Seconds
    output_tokens: Seconds
    events: Seconds
    gaps: Seconds

    @property
    def tpot(self) -> Seconds:
        """(latency - TTFT) / (tokens - 1) of each request; 0 with fewer than two tokens, NaN without a TTFT."""
        several = self.output_tokens > 1
        spread = np.where(several, self.output_tokens - 1, 1)
        return np.where(several | np.isnan(self.ttft), (self.latency - self.ttft) / spread, 0.0)


def tool_values(exchanges: Sequence[Exchange], tool: Tool) -> ToolValues:
    """Measure the answered requests of a load as a tool does.

    Args:
        exchanges: all requests of the load.
        tool: how.
    """
    answered = [one for one in exchanges if one.failure is None]
    rows = np.array([_measured(one, tool) for one in answered], np.float64).reshape(-1, 7)
    start, latency, ttft, decoding, sent, received, events = rows.T
    count = int(np.maximum(events - 1, 0).sum())
    gaps = pooled_gaps((token_times(one, tool) for one in answered), count, exact=False)
    return ToolValues(start, latency, ttft, decoding, sent, received, events, gaps)


def token_times(one: Exchange, tool: Tool) -> Seconds:
    """Return when each event came that a tool takes for a token."""
    if "o" not in tool.kinds:
        wanted = np.isin(np.frombuffer(one.kinds.encode(), np.uint8), np.frombuffer(tool.kinds.encode(), np.uint8))
        return np.asarray(one.events[wanted])
    has_counts = one.kinds.endswith("o") and "usage" in (one.input_source, one.output_source)
    return one.events[: len(one.kinds) - has_counts]


def _measured(one: Exchange, tool: Tool) -> tuple[float, ...]:
    """Return the row of a request in the order of `ToolValues`."""
    times = token_times(one, tool)
    last = one.end if tool.end == "reply" or not one.kinds else float(one.events[-1])
    if tool.end == "token" and len(times):
        last = float(times[-1])
    latency = last - one.taken
    decoding = float(times[-1] - times[0]) if len(times) else math.nan
    if len(times):
        ttft = float(times[0]) - one.taken
    elif one.kinds:
        ttft = tool.empty_ttft
    else:
        ttft = latency if tool.whole_is_token else math.nan
    return one.taken, latency, ttft, decoding, float(one.input_tokens or 0), float(tool.tokens(one)), float(len(times))


def _known_or(one: Exchange, unknown: int) -> int:
    """Return the tokens that the server or the tokenizer counts, or else a number for unknown ones."""
    return (one.output_tokens or 0) if one.output_source in ("usage", "tokenizer") else unknown


def _usage_or(one: Exchange, unknown: int | None) -> int:
    """Return the tokens that the server counts, or else a number for unknown ones."""
    return (one.output_tokens if one.output_source == "usage" else unknown) or 0


TOOLS: Final[dict[ToolName, Tool]] = {
    # any chunk with `choices`, empty ones too; the chunk with the counts neither is a token nor ends the latency
    "vllm": Tool("arto", "token", lambda one: _known_or(one, 1), empty_ttft=math.nan),
    # text and reasoning; the latency ends with the line [DONE]
    "sglang": Tool("ar", "reply", lambda one: _usage_or(one, one.max_tokens), whole_is_token=True),
    # the chunk with the counts ends the latency
    "evalscope": Tool("art", "event", lambda one: one.output_tokens or 0, whole_is_token=True),
    # without counts each iteration is a token
    "guidellm": Tool("art", "reply", lambda one: _usage_or(one, len(one.kinds) - one.kinds.count("o"))),
    # its own tokenizer counts
    "aiperf": Tool("art", "token", lambda one: one.counted_tokens or one.output_tokens or 0, empty_ttft=math.nan),
}


_WIDTH: Final = 50
"""Columns of a table of names and values, as in vLLM and SGLang."""
HEADER_ROOM: Final = 2
"""Columns that a table of tabulate is at least wider than its header."""


def print_sections(sections: Sequence[ToolSection], console: Console) -> None:
    """Print the tables of one task.

    Args:
        sections: of the tool.
        console: where to.
    """
    for section in sections:
        if section.columns:
            print_heading(section.title, console)
            columns = [Column("", is_name=True, right=False), *map(Column, section.columns)]
            print_table(columns, [[name, *map(_cell, values)] for name, values in section.rows.items()], console)
        else:
            lines = [f"{f' {section.title} ':-^{_WIDTH}}"]
            lines += [f"{name:<40} {_cell(value)}" for name, (value,) in section.rows.items()]
            console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _cell(value: Value) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def aisbench_screen(tables: AisbenchTables, task: str, folder: str) -> str:
    """Return the text for one task.

    Args:
        tables: of the load.
        task: ``model/dataset``.
        folder: with the files of the model.
    """
    metrics = list(csv.reader(tables.csv.splitlines()))
    common = [
        ["Common Metric", "Stage", "Value"],
        *([name, stage, value] for name, of in json.loads(tables.json).items() for stage, value in of.items()),
    ]
    parts = [
        f"Performance Results of task [{task}]: ",
        fancy_grid(metrics),
        fancy_grid(common),
        f"Performance Result files located in {folder}.",
    ]
    return "\n".join(parts)


def fancy_grid(rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as tabulate's ``fancy_grid`` does: numbers centred, texts to the left.

    Args:
        rows: the header first.
    """
    columns = [[str(row[place]) for row in rows] for place in range(len(rows[0]))]
    widths = [max(len(header) + HEADER_ROOM, *map(len, cells)) for header, *cells in columns]
    centred = [all(cell.isdecimal() for cell in cells) for _, *cells in columns]

    def line(cells: Sequence[str]) -> str:
        padded = (
            f"{cell:^{width}}" if is_number else cell.ljust(width)
            for cell, width, is_number in zip(cells, widths, centred, strict=True)
        )
        return f"│ {' │ '.join(padded)} │"

    def rule(left: str, fill: str, middle: str, right: str) -> str:
        return f"{left}{middle.join(fill * (width + 2) for width in widths)}{right}"

    def lines() -> Iterator[str]:
        header, *body = zip(*columns, strict=True)
        yield rule("╒", "═", "╤", "╕")
        yield line(header)
        yield rule("╞", "═", "╪", "╡")
        for number, cells in enumerate(body):
            if number:
                yield rule("├", "─", "┼", "┤")
            yield line(cells)
        yield rule("╘", "═", "╧", "╛")

    return "\n".join(lines())
