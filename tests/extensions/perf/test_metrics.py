"""The numbers of loads whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.perf import aisbench
from ais_prompt.extensions.perf.aisbench import aisbench_tables
from ais_prompt.extensions.perf.metrics import distribution, firm_p99, load_table, window_table
from ais_prompt.extensions.perf.schedule import Schedule
from tests.extensions.perf.loads import at_20, exchange


@pytest.mark.thorough
@pytest.mark.parametrize("extra", [False, True])
def test_a_scripted_load_has_its_scripted_numbers(extra: bool) -> None:
    found = load_table(*at_20(extra=extra))
    truth = {
        "ttft_seconds": 0.05,
        "e2el_seconds": 0.05 + 31 * 0.01,
        "tpot_seconds": 0.01,
        "itl_seconds": 0.01,
        "ttft_from_due_seconds": 0.051,
        "e2el_from_due_seconds": 0.361,
        "queue_seconds": 0.001,
        "output_tokens": 32,
        "answer_tokens_per_second": 32 / 0.36,
    }
    for name, value in truth.items():
        values = found.distributions[name]
        assert [values.mean, values.percentiles["p50"], values.most] == pytest.approx([value] * 3), name
    assert found.seconds == pytest.approx(199 / 20 + 0.36 + (0.31 if extra else 0))
    assert found.requests_per_second == pytest.approx(200 / found.seconds)
    assert found.output_tokens_per_second == pytest.approx(6400 / found.seconds)
    assert found.tokens_per_event == 1.0
    assert found.peak_concurrency == (14 if extra else 8)


def test_aisbench_counts_events_that_bring_nothing() -> None:
    plain, extra = (aisbench_tables(at_20(extra=extra)[0], 8).metrics for extra in (False, True))
    assert (plain["TTFT"]["Median"], extra["TTFT"]["Median"]) == ("50.6 ms", "20.6 ms")
    assert (plain["E2EL"]["Median"], extra["E2EL"]["Median"]) == ("360.6 ms", "670.6 ms")


def test_very_many_gaps_are_counted_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    exchanges = [exchange(number, number / 20, gap=0.010007 + number / 1e4, extra=True) for number in range(20)]
    pooled = aisbench_tables(exchanges, 8).metrics["ITL"]
    monkeypatch.setattr(aisbench, "MOST_POOLED", 0)
    assert aisbench_tables(exchanges, 8).metrics["ITL"] == pooled


@pytest.mark.thorough
def test_failures_are_in_no_latency_but_in_the_time_that_users_wait() -> None:
    exchanges, schedule = at_20()
    exchanges[100] = exchange(100, 5.0, failure="timeout", kinds="", events=(), output_tokens=None)
    exchanges[101] = exchange(101, 5.05, failure="timeout", kinds="", events=(), output_tokens=None)
    found = load_table(exchanges, schedule)
    assert (found.requests, found.answered, found.failed) == (200, 198, 2)
    assert found.distributions["e2el_seconds"].n == 198
    with_failures = found.distributions["e2el_from_due_with_failures_seconds"]
    assert with_failures.n == 200
    assert math.isinf(with_failures.most)
    assert not math.isinf(with_failures.percentiles["p95"])


@pytest.mark.thorough
def test_later_turns_are_apart_from_first_ones() -> None:
    turns = [exchange(number, number, turn=number % 3, first=0.05 if number % 3 else 0.2) for number in range(9)]
    found = load_table(turns, Schedule("closed")).distributions
    first, later = found["ttft_first_turn_seconds"], found["ttft_later_turns_seconds"]
    assert (first.n, later.n) == (3, 6)
    assert (first.mean, later.mean) == (pytest.approx(0.2), pytest.approx(0.05))
    assert "ttft_later_turns_seconds" not in load_table(at_20()[0], Schedule("closed")).distributions


def test_an_answer_of_one_token_has_no_tpot_and_thoughts_are_told_apart() -> None:
    one = [exchange(number, number, pieces=1) for number in range(4)]
    assert (
        not {"tpot_seconds", "itl_seconds", "ttfo_seconds"} & load_table(one, Schedule("closed")).distributions.keys()
    )
    thinking = exchange(0, 0.0, kinds="r" * 20 + "a" * 12)
    found = load_table([thinking], Schedule("closed")).distributions
    assert found["ttft_seconds"].mean == pytest.approx(0.05)
    assert found["ttfo_seconds"].mean == pytest.approx(0.05 + 20 * 0.01)


def test_an_answer_that_is_not_streamed_has_its_end_only() -> None:
    found = load_table([exchange(0, 0.0, kinds="", events=())], Schedule("closed")).distributions
    assert found["e2el_seconds"].mean == pytest.approx(0.36)
    assert "ttft_seconds" not in found


@pytest.mark.thorough
def test_the_window_is_the_time_with_all_places_taken() -> None:
    schedule = Schedule("closed", (), 80, 4)
    exchanges = [exchange(number, number // 4 + (number % 4) / 100, first=0.6) for number in range(80)]
    found = window_table(exchanges, schedule)
    assert found is not None
    assert found.requests < 80
    assert found.seconds < load_table(exchanges, schedule).seconds
    assert window_table(exchanges[:30], schedule) is None, "too short"


@pytest.mark.thorough
@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=300))
def test_percentiles_are_those_of_numpy_inside_of_their_intervals(values: list[float]) -> None:
    found = distribution(np.array(values))
    for name, value in found.percentiles.items():
        assert value == pytest.approx(np.percentile(values, int(name[1:])))
        assert found.intervals[name][0] <= value <= found.intervals[name][1]
    assert ("p99" in found.thin) == (len(values) < 500)


def test_a_few_pauses_of_a_short_load_are_no_percentile() -> None:
    quiet = np.full(145, 0.001)
    assert firm_p99(np.append(quiet, [0.02] * 5)) == 0.001
    assert firm_p99(np.append(quiet, [0.02] * 6)) == 0.02
    assert firm_p99(np.array([0.03])) == 0.03


@pytest.mark.thorough
def test_long_requests_are_in_the_window_of_a_rate() -> None:
    """A tenth of the requests takes 30 s: of those that are wholly inside of a window they would be missing."""
    rng = np.random.default_rng(0)
    due = np.cumsum(rng.exponential(1 / 4, 800)).tolist()
    took = np.where(rng.random(800) < 0.1, 30.0, 2.0)
    exchanges = [
        exchange(number, time, first=long - 0.31) for number, (time, long) in enumerate(zip(due, took, strict=True))
    ]
    found = window_table(exchanges, Schedule("rate", due, 800))
    assert found is not None
    values = found.distributions["e2el_seconds"]
    assert values.mean == pytest.approx(float(took.mean()), rel=0.1)
    assert values.percentiles["p95"] == pytest.approx(30.0)
    assert found.requests_per_second == pytest.approx(4.0, rel=0.1)
    assert found.output_tokens_per_second == pytest.approx(4.0 * 32, rel=0.1)
    assert found.concurrency == pytest.approx(4.0 * float(took.mean()), rel=0.15)
    assert found.requests < 800, "those of the beginning are left out"
    low, high = found.intervals["requests_per_second"]
    assert low <= found.requests_per_second <= high


def test_concurrency_counts_what_is_in_flight_at_each_time() -> None:
    schedule = Schedule("closed", (), 80, 4)
    exchanges = [exchange(number, number // 4 + (number % 4) / 100, first=0.6) for number in range(80)]
    total, window = load_table(exchanges, schedule), window_table(exchanges, schedule)
    assert window is not None
    busy = sum(one.end - one.start for one in exchanges)
    assert total.concurrency == pytest.approx(busy / total.seconds)
    assert (total.peak_concurrency, window.peak_concurrency) == (4, 4)
