"""Two loads whose difference is known."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from ais_prompt.errors import DataError
from ais_prompt.extensions.perf.compared_loads import LoadComparison, Ratio, compare_loads
from ais_prompt.extensions.perf.load_files import StoredLoad
from ais_prompt.extensions.perf.schedule import Schedule
from tests.extensions.perf.loads import at_20, exchange, load


def ratios(found: LoadComparison) -> dict[str, Ratio]:
    return {one.metric: one for one in found.ratios}


def noisy(seed: int, factor: float = 1.0, count: int = 400) -> StoredLoad:
    """Return a load at 20/s whose TTFT varies by request; the same requests are slow whatever the seed."""
    questions, noise = random.Random(1), random.Random(seed)
    return load(
        [
            exchange(number, number / 20, first=factor * questions.lognormvariate(-3, 0.5) * noise.uniform(0.9, 1.1))
            for number in range(count)
        ],
        Schedule("rate", [number / 20 for number in range(count)], count),
    )


@pytest.mark.thorough
def test_a_load_compared_with_itself_has_ratios_of_one_and_no_notes() -> None:
    found = compare_loads(noisy(1), noisy(1))
    assert {one.ratio for one in found.ratios} == {1.0}
    assert {one.interval for one in found.ratios} == {(1.0, 1.0), None}
    assert (found.common, found.notes) == (400, [])


@pytest.mark.thorough
def test_chance_alone_has_an_interval_around_one_and_a_slower_server_has_not() -> None:
    same, slower = ratios(compare_loads(noisy(1), noisy(2))), ratios(compare_loads(noisy(1), noisy(2, 1.3)))
    for metric in ("ttft_seconds_p50", "ttft_from_due_seconds_p50"):
        low, high = same[metric].interval or (0, 0)
        assert low <= 1 <= high, metric
        low, high = slower[metric].interval or (0, 0)
        assert 1 < low <= 1.3 <= high, metric
    assert slower["ttft_seconds_p99"].thin, "four values beyond it"
    assert slower["tpot_seconds_p50"].ratio == pytest.approx(1.0)
    assert slower["requests_per_second"].interval is None


@pytest.mark.thorough
def test_pairs_are_requests_that_both_have_answered() -> None:
    exchanges, schedule = at_20(20)
    failed = [exchange(3, 0.15, failure="timeout", kinds="", events=(), output_tokens=None), *exchanges[4:]]
    found = compare_loads(load(exchanges, schedule), load(failed, schedule))
    assert found.common == 16
    assert found.notes == [
        "4 answered requests of the first are not in the other",
        "1 request of the second failed; failures are in no ratio of latencies",
    ]
    with pytest.raises(DataError, match="no answered request in common"):
        compare_loads(load(exchanges[:4], schedule), load(failed, schedule))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("schedule", "more", "note"),
    [
        (Schedule("closed", (), 200, 4), {}, "the loads are of different kinds, rate and closed"),
        (Schedule("rate", [number / 40 for number in range(200)], 200), {}, "the rates differ: 20.1 and 40.2"),
        (Schedule("rate", [number**2 / 4000 for number in range(200)], 200), {}, "at which requests were due differ"),
        (None, {"pieces": 40}, "the answers have 32 and 40 tokens on average"),
        (None, {"input_tokens": 120}, "the prompts have 100 and 120 tokens on average"),
        (None, {"max_tokens": 80}, "200 requests asked for answers of another length"),
    ],
)
def test_a_note_says_how_the_loads_differ(schedule: Schedule | None, more: dict[str, Any], note: str) -> None:
    (before, own), (after, _) = at_20(), at_20(**more)
    found = compare_loads(load(before, own), load(after, schedule or own))
    assert note in " ".join(found.notes)


@pytest.mark.thorough
def test_turns_of_a_conversation_count_as_one_and_one_conversation_has_no_interval() -> None:
    turns = [exchange(1, place, turn=place, first=0.1 + place / 10) for place in range(3)]
    assert all(one.interval is None for one in compare_loads(load(turns), load(turns)).ratios)

    def width(repeats: int) -> float:
        sides = [
            load([
                exchange(number, 9 * number + turn, turn=turn, first=0.1 + random.Random(f"{side} {number}").random())
                for number in range(60)
                for turn in range(repeats)
            ])
            for side in "ab"
        ]  # fmt: skip
        low, high = ratios(compare_loads(sides[0], sides[1]))["ttft_seconds_p50"].interval or (0, 0)
        return math.log(high / low)

    assert width(4) == pytest.approx(width(1), rel=0.5), "equal turns say no more than one"


def test_a_percentile_that_one_load_does_not_show_has_no_interval() -> None:
    found = ratios(compare_loads(noisy(1, count=50), noisy(2, count=50)))
    assert found["ttft_seconds_p50"].interval is not None
    assert found["ttft_seconds_p99"].interval is None
