"""The numbers behind the pictures of a load, from times that are written down."""

from __future__ import annotations

import pytest

from ais_prompt.extensions.perf.charts import MOST_BINS, MOST_REQUESTS, MOST_STEPS, charts_json
from ais_prompt.extensions.perf.schedule import Schedule
from tests.extensions.perf.loads import at_20, exchange, load


def test_requests_rates_latencies_and_numbers_in_flight() -> None:
    exchanges, schedule = at_20()
    found = charts_json(load(exchanges, schedule))
    assert found["requests"]["of"] == 200
    assert found["requests"]["start"][:2] == [0.001, 0.051]
    assert found["requests"]["first"][0] == 0.051
    assert found["requests"]["end"][0] == 0.361
    rates = found["rates"]
    length = found["seconds"] / len(rates["sent"])
    assert [round(sum(rates[name]) * length) for name in ("planned", "sent", "answered")] == [200] * 3
    known = [value for value in found["latencies"]["ttft_seconds"]["median"] if value is not None]
    assert set(known) == {0.05}
    assert max(found["in_flight"]["numbers"]) == 8
    assert found["in_flight"]["numbers"][-1] == 0


def test_distributions_have_every_value_and_few_bins() -> None:
    exchanges = [exchange(number, number, first=0.01 * (1 + number % 100), pieces=3) for number in range(300)]
    found = charts_json(load(exchanges))["distributions"]
    assert {name: sum(one["counts"]) for name, one in found.items()} == {
        "ttft_seconds": 300,
        "e2el_seconds": 300,
        "itl_seconds": 600,
    }
    ends = found["ttft_seconds"]["edges"]
    assert len(ends) <= MOST_BINS + 1
    assert 0.0099 < ends[0] <= 0.0101
    assert 0.99 < ends[-1] < 1.2


@pytest.mark.thorough
def test_many_requests_are_thinned_out_and_none_is_missing_elsewhere() -> None:
    count = 3 * MOST_REQUESTS
    exchanges = [exchange(number, number / 1000, pieces=2) for number in range(count)]
    exchanges += [exchange(count + number, 3.0, pieces=2) for number in range(50)]
    found = charts_json(load(exchanges))
    assert found["requests"]["of"] == count + 50
    assert len(found["requests"]["start"]) == MOST_REQUESTS
    assert found["requests"]["number"][0] == 0
    assert found["requests"]["number"][-1] == count + 49
    assert found["in_flight"]["is_most"]
    assert len(found["in_flight"]["times"]) == MOST_STEPS
    assert max(found["in_flight"]["numbers"]) == 110, "60 of the rate, and 50 at once"
    assert sum(found["distributions"]["e2el_seconds"]["counts"]) == count + 50


def test_failures_and_answers_that_were_not_streamed() -> None:
    failed = exchange(0, 0.0, failure="timeout", kinds="", steps=b"", output_tokens=None)
    whole = exchange(1, 0.1, kinds="", steps=b"")
    found = charts_json(load([failed, whole], Schedule("closed", (), 2, 1)))
    assert found["requests"]["failed"] == [1, 0]
    assert found["requests"]["first"] == [None, None]
    assert set(found["distributions"]) == {"e2el_seconds"}
    assert found["rates"]["planned"] is None
