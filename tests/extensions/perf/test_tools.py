"""One load by the definitions of each tool. The expected values are computed by hand from the times below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.exchange import Exchange, offsets_of
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.extensions.perf.tool_tables import TOOLS, ToolName, ToolSection, tool_sections, tool_values
from tests.extensions.perf.loads import load

NONE = math.nan


def answer(taken: float, kinds: str, offsets: list[float], end: float, tokens: int, **more: Any) -> Exchange:
    """Return a request with events after so many seconds; its prompt has 10 tokens."""
    values = {"sent": taken + 0.001, "input_tokens": 10, "output_tokens": tokens, "kinds": kinds} | more
    steps = offsets_of(taken, [taken + offset for offset in offsets])
    return Exchange("row", taken, taken, taken + end, steps=steps.tobytes(), **values)


LOAD = [
    answer(1.0, "ooaaoo", [0.02, 0.03, 0.10, 0.20, 0.25, 0.30], 0.31, 4),  # role, empty, …, finish, counts
    answer(2.0, "oao", [0.01, 0.05, 0.07], 0.08, 1),  # one token: role, the token, counts
    answer(3.0, "rat", [0.10, 0.20, 0.30], 0.32, 5, input_source="tokenizer", output_source="tokenizer", max_tokens=8),
    answer(4.0, "aa", [0.10, 0.20], 0.21, 2, input_source="estimate", output_source="events", max_tokens=8),
    answer(4.5, "", [], 5.0, 0, failure="timeout", output_tokens=None),
]


@pytest.mark.parametrize(
    ("tool", "latency", "ttft", "tokens", "tpot", "gaps"),
    [
        (
            *("vllm", [0.25, 0.05, 0.30, 0.20], [0.02, 0.01, 0.10, 0.10], [4, 1, 5, 1]),
            *([0.23 / 3, 0, 0.05, 0], [0.01, 0.07, 0.10, 0.05, 0.04, 0.10, 0.10, 0.10]),
        ),
        (
            *("sglang", [0.31, 0.08, 0.32, 0.21], [0.10, 0.05, 0.10, 0.10], [4, 1, 8, 8]),
            *([0.07, 0, 0.22 / 7, 0.11 / 7], [0.10, 0.10, 0.10]),
        ),
        (
            *("evalscope", [0.30, 0.07, 0.30, 0.20], [0.10, 0.05, 0.10, 0.10], [4, 1, 5, 2]),
            *([0.20 / 3, 0, 0.05, 0.10], [0.10, 0.10, 0.10, 0.10]),
        ),
        (
            *("guidellm", [0.31, 0.08, 0.32, 0.21], [0.10, 0.05, 0.10, 0.10], [4, 1, 3, 2]),
            *([0.07, 0, 0.11, 0.11], [0.10, 0.10, 0.10, 0.10]),
        ),
        (
            *("aiperf", [0.20, 0.05, 0.30, 0.20], [0.10, 0.05, 0.10, 0.10], [4, 1, 5, 2]),
            *([0.10 / 3, 0, 0.05, 0.10], [0.10, 0.10, 0.10, 0.10]),
        ),
    ],
)
def test_each_tool_measures_the_same_requests_differently(
    tool: ToolName, latency: list[float], ttft: list[float], tokens: list[int], tpot: list[float], gaps: list[float]
) -> None:
    found = tool_values(LOAD, TOOLS[tool])
    assert found.latency == pytest.approx(latency)
    assert found.ttft == pytest.approx(ttft)
    assert found.output_tokens.tolist() == tokens
    assert found.tpot == pytest.approx(tpot)
    assert found.gaps == pytest.approx(gaps)


@pytest.mark.parametrize(
    ("tool", "whole", "empty"),
    [
        *(("vllm", NONE, 0.1), ("sglang", 0.5, 0.0), ("evalscope", 0.5, 0.0)),
        *(("guidellm", NONE, 0.0), ("aiperf", NONE, NONE)),
    ],
)
def test_answers_that_are_not_streamed_or_empty(tool: ToolName, whole: float, empty: float) -> None:
    found = tool_values([answer(1.0, "", [], 0.5, 3), answer(2.0, "oo", [0.1, 0.2], 0.3, 1)], TOOLS[tool])
    assert found.ttft == pytest.approx([whole, empty], nan_ok=True)
    assert found.latency[0] == pytest.approx(0.5)


def numbers(tool: ToolName, schedule: Schedule | None = None) -> dict[str, Any]:
    """Return name → its values, of all tables of a tool."""
    sections: list[ToolSection] = tool_sections(load(LOAD, schedule), tool)
    return {name: values[0] if len(values) == 1 else values for one in sections for name, values in one.rows.items()}


def with_silent_events(one: Exchange, at: Sequence[float]) -> Exchange:
    """Return a request with further events that bring nothing, at shares of the time between its first and last one."""
    if len(one.offsets) < 2:
        return one
    first, last = int(one.offsets[0]), int(one.offsets[-1])
    events = [*zip(one.offsets.tolist(), one.kinds, strict=True)]
    events += [(first + 1 + int(share * (last - first - 2)), "o") for share in at]
    events.sort(key=lambda event: event[0])  # stable: an event at the same time comes after those of the answer
    steps = np.array([time for time, _ in events], np.uint32).tobytes()
    return replace(one, steps=steps, kinds="".join(kind for _, kind in events))


@pytest.mark.thorough
@pytest.mark.parametrize("tool", ["sglang", "evalscope", "guidellm", "aiperf"])
@given(st.lists(st.lists(st.floats(0, 1), max_size=6), min_size=len(LOAD), max_size=len(LOAD)))
def test_events_that_a_tool_ignores_change_nothing(tool: ToolName, silent: list[list[float]]) -> None:
    more = [with_silent_events(one, at) for one, at in zip(LOAD, silent, strict=True)]
    assert [measured_by(one, tool) for one in more] == [measured_by(one, tool) for one in LOAD]
    assert tool_sections(load(more), tool) == tool_sections(load(LOAD), tool)


def measured_by(one: Exchange, tool: ToolName) -> str:
    """Return all that a tool measures of one request, in a form that can be compared."""
    return repr(tool_values([one], TOOLS[tool]))


def test_an_event_that_a_tool_counts_does_change_its_table() -> None:
    more = [with_silent_events(one, [0.5]) for one in LOAD]
    assert tool_sections(load(more), "vllm") != tool_sections(load(LOAD), "vllm")


def test_vllm_counts_the_whole_loop_and_the_wait_for_a_place() -> None:
    found = numbers("vllm")
    assert (found["Successful requests:"], found["Failed requests:"]) == (4, 1)
    assert found["Benchmark duration (s):"] == pytest.approx(9.5), "from the beginning of the loop, failures included"
    assert found["Output token throughput (tok/s):"] == pytest.approx(11 / 9.5)
    assert found["Mean TPOT (ms):"] == pytest.approx(1000 * (0.23 / 3 + 0.05) / 2), "answers of one token have none"
    assert found["P99 TTFT (ms):"] == pytest.approx(100.0)
    assert found["Peak concurrent requests:"] == 1
    assert found["Peak output token throughput (tok/s):"] == 5
    assert "Mean Client Queue Time (ms):" not in found
    limited = numbers("vllm", Schedule("rate", [0.5, 1.5, 2.5, 3.5, 4.0], 5, 1))
    assert limited["Mean E2EL incl. Client Queue (ms):"] == pytest.approx(200.0), "nothing waited here"


def test_sglang_prints_more_of_the_gaps() -> None:
    found = numbers("sglang")
    assert found["Total generated tokens:"] == 4 + 1 + 8 + 8
    assert found["Mean E2E Latency (ms):"] == pytest.approx(230.0)
    assert found["Concurrency:"] == pytest.approx(0.92 / 9.5)
    assert {"P95 ITL (ms):", "Max ITL (ms):"} <= found.keys()


def test_evalscope_counts_answers_of_one_token_in_the_mean_and_takes_the_nearest_rank() -> None:
    found = numbers("evalscope")
    assert found["Test Duration (s)"] == pytest.approx(8.5)
    assert found["Total / Success / Failed"] == "5 / 4 / 1"
    assert found["Avg TPOT (ms)"] == pytest.approx(1000 * (0.20 / 3 + 0 + 0.05 + 0.10) / 4)
    low, *_, p75, _, _, _, high = found["Latency (s)"]
    assert (low, p75, high) == pytest.approx((0.07, 0.30, 0.30))
    assert found["TPOT (ms)"][0] == pytest.approx(50.0), "without that of one token"


def test_guidellm_weighs_requests_by_their_tokens_and_counts_failures_in_its_rate() -> None:
    found = numbers("guidellm")
    # TPOT with the first token: 0.20/4, 0.05/1, 0.30/3, 0.20/2 for 4, 1, 3 and 2 tokens
    assert found["TPOT (ms)"] == pytest.approx([50.0, 100.0])
    # ITL: 0.10/3, 0.20/2, 0.10/1 for 3, 2 and 1 gaps
    assert found["ITL (ms)"] == pytest.approx([100 / 3, 100.0])
    assert found["Requests Per Sec"][1] == pytest.approx(5 / 8.5)
    assert found["Output Tokens Per Sec"][1] == pytest.approx(10 / (4.2 - 1.1))


def test_aiperf_calls_tpot_inter_token_latency() -> None:
    found = numbers("aiperf")
    mean = np.mean([0.10 / 3, 0.05, 0.10])
    assert found["Inter Token Latency (ms)"][0] == pytest.approx(1000 * mean)
    assert found["Inter Chunk Latency (ms)"][0] == pytest.approx(100.0)
    assert found["Request Throughput (requests/sec)"][0] == pytest.approx(4 / 3.2), "of answered requests, 1.0 to 4.2"


@pytest.mark.parametrize("tool", TOOLS)
def test_a_load_without_answers_has_no_tables(tool: ToolName) -> None:
    with pytest.raises(DataError, match="no request was answered"):
        tool_sections(load(LOAD[-1:]), tool)
