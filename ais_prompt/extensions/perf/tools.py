"""How other tools measure the requests of a load: the same journal, by their definitions.

The same name means different things in these tools, so their tables do not compare. A `Tool` says how one of them
measures a request, and `tool_values` applies it; `perf.tool_tables` shows the values with the names, units
and percentiles of the tool. The tables of AISBench are in `perf.aisbench`.

All of these tools take the start of a request before they have a connection: ``taken`` of an `Exchange`. Sources, of
August and September 2026: `vllm/benchmarks/lib/endpoint_request_func.py`; `oai_chat_client.py` of `sglang/benchmark`;
`evalscope/perf/plugin/api/default_api.py` and `utils/benchmark_util.py`; `guidellm/schemas/request_stats.py`;
`aiperf/metrics/types`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

import numpy as np
from msgspec import Struct

from ais_prompt.extensions.perf.exchange import Exchange, Seconds, pooled_gaps
from ais_prompt.extensions.perf.options import ToolName

TOOL_NAMES: Final[tuple[ToolName, ...]] = get_args(ToolName)


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
