"""Goals for latencies: what meets them, what does not, and how they are written."""

from __future__ import annotations

import math

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.perf.exchange import Exchange
from ais_prompt.extensions.perf.load_verdicts import Goodput, goodput, load_verdicts
from ais_prompt.extensions.perf.metrics import load_table
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.extensions.perf.section import parse_slo
from tests.extensions.perf.loads import at_20, exchange, load


def goals(exchanges: list[Exchange], *texts: str, kind: str = "rate") -> Goodput:
    due = [one.due for one in exchanges] if kind == "rate" else []
    schedule = Schedule("rate", due, len(due)) if due else Schedule("closed", (), len(exchanges), 8)
    slos = [parse_slo(text, "--slo") for text in texts]
    found = goodput(exchanges, schedule, load_table(exchanges, schedule), slos)
    assert found is not None
    return found


@pytest.mark.thorough
def test_goodput_counts_requests_that_meet_every_limit() -> None:
    exchanges = [
        exchange(0, 0.0, first=0.1),
        exchange(1, 0.1, first=0.3),  # the first piece comes too late
        exchange(2, 0.2, first=0.1, gap=0.06),  # the others come too slowly
        exchange(3, 0.3, first=0.1, failure="timeout"),
        exchange(4, 0.4, first=0.1, pieces=1),  # one token has no TPOT
    ]
    found = goals(exchanges, "p50 ttft <= 200ms", "p90 tpot <= 0.05s")
    assert found.share == 2 / 5
    seconds = max(one.end for one in exchanges) - 0.001
    assert found.requests_per_second == pytest.approx(2 / seconds)
    ttft, tpot = found.slos
    assert (ttft.share, tpot.share) == (3 / 5, 3 / 5)
    assert ttft.met
    assert ttft.value == pytest.approx(0.101), "from the moment at which the request was due"
    assert not tpot.met
    assert tpot.value == math.inf, "a failure in four decides a p90"


@pytest.mark.thorough
def test_a_closed_load_counts_from_the_moment_of_sending() -> None:
    exchanges, _ = at_20(40)
    assert goals(exchanges, "ttft <= 50.1ms", kind="closed").met
    assert not goals(exchanges, "ttft <= 50.1ms").met


@pytest.mark.thorough
def test_one_percent_of_failures_meets_a_p90_and_misses_a_p99() -> None:
    exchanges, _ = at_20(200)
    for number in range(4):
        exchanges[number] = exchange(number, number / 20, failure="http_500")
    found = goals(exchanges, "p90 e2el < 1s", "p99 e2el < 1s", "e2el <= 1s")
    assert [one.met for one in found.slos] == [True, False, False]
    assert found.share == 196 / 200


@pytest.mark.thorough
def test_each_goal_has_a_verdict_with_its_interval() -> None:
    exchanges, schedule = at_20(200)
    slos = [parse_slo(text, "--slo") for text in ("p50 ttft <= 2s", "p50 ttft <= 1ms")]
    table = load_table(exchanges, schedule)
    found = load_verdicts(load(exchanges, schedule), table, goodput(exchanges, schedule, table, slos))
    good, bad = (one for one in found if one.name == "slo")
    assert good.holds
    assert good.text == ("p50 ttft <= 2s: it is 51 ms (95 % interval 51 ms to 51 ms); 100.0% of all requests meet it")
    assert not bad.holds


def test_a_latency_that_no_answer_has_is_said() -> None:
    exchanges, schedule = at_20(20, kinds="", events=())
    table = load_table(exchanges, schedule)
    goal = goodput(exchanges, schedule, table, [parse_slo("p50 ttft <= 2s", "")])
    verdict = load_verdicts(load(exchanges, schedule), table, goal)[-1]
    assert not verdict.holds
    assert "TTFT needs stream=True" in verdict.text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("p99 ttft <= 2s", ("ttft_seconds", 2.0, 99.0)),
        ("P99.9 TPOT<50ms", ("tpot_seconds", 0.05, 99.9)),
        ("e2el <= .5", ("e2el_seconds", 0.5, None)),
        ("p50 e2el_seconds <= 3", ("e2el_seconds", 3.0, 50.0)),
    ],
)
def test_goals_are_read(text: str, values: tuple[str, float, float | None]) -> None:
    found = parse_slo(text, "--slo")
    assert (found.metric, found.limit, found.percent) == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p99 ttft >= 2s", "no goal for a latency"),
        ("p99 itl <= 2s", "'itl' is not ttft, tpot or e2el"),
        ("p0 ttft <= 2s", "must be more than 0"),
        ("p99 ttft <= 0s", "must be more than 0"),
        ("p100 ttft <= 2s", "no goal"),
        ("p99 ttft <= 2min", "no goal"),
        (3, "no goal"),
    ],
)
def test_what_is_no_goal_is_refused(text: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_slo(text, "--slo")
