"""What a line of the journal keeps of a request."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.perf.exchange import CountedGaps, Exchange, decode_gaps, encode_gaps, offsets_of
from tests.extensions.perf.loads import exchange


def line(one: Exchange, **completion: Any) -> bytes:
    usage = {"prompt_tokens": one.input_tokens, "completion_tokens": one.output_tokens}
    values = {"sample_id": one.sample_id, "turn": one.turn, "repeat": one.repeat, "times": one.times_to_json()}
    return json.dumps({**values, "completion": {"usage": usage, **completion}}).encode()


@given(st.floats(0, 1e5), st.lists(st.floats(0, 300), max_size=200))
def test_times_are_kept_to_a_microsecond(start: float, gaps: list[float]) -> None:
    times = list(accumulate(gaps, initial=start))[1:]
    offsets = decode_gaps(encode_gaps(offsets_of(start, times)))
    assert round(start, 6) + offsets / 1e6 == pytest.approx(times, abs=1.5e-6)


@given(st.text("arto", max_size=60))
def test_a_line_has_all_of_an_exchange(kinds: str) -> None:
    one = exchange(1, 2.5, kinds=kinds, events=[3.0 + place / 100 for place in range(len(kinds))], turn=1, repeat=2)
    found = Exchange.from_line(line(one))
    assert found is not None
    assert found.events == pytest.approx(one.events)
    assert (found.kinds, found.turn, found.repeat, found.max_tokens) == (kinds, 1, 2, 64)
    assert (found.due, found.taken, found.sent) == pytest.approx((one.due, one.taken, one.sent))


def test_tokens_that_the_server_does_not_count_keep_their_source() -> None:
    one = exchange(1, 0.0, input_tokens=7, input_source="tokenizer", output_tokens=3, output_source="events")
    found = Exchange.from_line(line(one, usage={"prompt_tokens": None, "completion_tokens": None}))
    assert found is not None
    assert (found.input_tokens, found.input_source, found.output_tokens, found.output_source) == (
        *(7, "tokenizer"),
        *(3, "events"),
    )


def test_failures_and_lines_without_times() -> None:
    failed = Exchange.from_line(line(exchange(1, 0.0), failure={"kind": "timeout", "message": "late"}))
    assert failed is not None
    assert failed.failure == "timeout"
    assert Exchange.from_line(b'{"sample_id": "x", "completion": {}}') is None
    with pytest.raises(ValueError, match="missing required field"):
        Exchange.from_line(b'{"sample_id": "x", "completion": {}, "times": {"due": 1.0}}')


def test_an_answer_that_is_no_valid_text_is_no_obstacle() -> None:
    found = Exchange.from_line(line(exchange(1, 0.0), text="\ud800", logprob=float("nan")))
    assert found is not None
    assert found.output_tokens == 32


def test_sixteen_milliseconds_take_four_characters() -> None:
    assert len(encode_gaps(offsets_of(0.0, np.arange(1, 101) * 0.0165))) == 400


@given(st.lists(st.lists(st.integers(0, 2**33), max_size=30), max_size=30))
def test_counted_gaps_are_all_gaps_in_their_order(steps: list[list[int]]) -> None:
    offsets = [np.array(sorted(one), np.int64) for one in steps]
    gaps = np.sort(np.concatenate([[], *map(np.diff, offsets)]))
    found = CountedGaps(offsets)
    assert [found[rank] for rank in range(len(found))] == pytest.approx(gaps / 1e6)
    if len(gaps):
        assert found.mean == pytest.approx(gaps.mean() / 1e6)
        assert found.shorter_than(gaps[-1] / 1e6) == np.count_nonzero(gaps < gaps[-1])
