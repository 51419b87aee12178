"""What is wrong with a load, and what is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from ais_prompt.extensions.perf.driver import ClientFacts
from ais_prompt.extensions.perf.exchange import Exchange
from ais_prompt.extensions.perf.load_files import StoredLoad
from ais_prompt.extensions.perf.load_verdicts import LoadVerdict, load_verdicts
from ais_prompt.extensions.perf.metrics import load_table
from ais_prompt.extensions.perf.options import LOAD_VERDICTS
from ais_prompt.extensions.perf.schedule import Schedule
from tests.extensions.perf.loads import IDLE, at_20, exchange, load


def verdicts(stored: StoredLoad) -> dict[str, LoadVerdict]:
    found = load_verdicts(stored, load_table(stored.exchanges, stored.plan.schedule))
    assert tuple(one.name for one in found) == tuple(name for name in LOAD_VERDICTS if name not in ("slo", "runs"))
    assert all(one.text and "\n" not in one.text for one in found)
    return {one.name: one for one in found}


def of(exchanges: list[Exchange], **more: Any) -> dict[str, LoadVerdict]:
    return verdicts(load(exchanges, Schedule("rate", [one.due for one in exchanges], len(exchanges)), **more))


@pytest.mark.thorough
def test_nothing_is_wrong_with_a_good_load() -> None:
    exchanges, _ = at_20(500)
    found = of(exchanges)
    assert [name for name, one in found.items() if not one.holds] == []


@dataclass
class Case:
    name: str
    words: str
    fields: dict[str, Any] | None = None
    client: ClientFacts | None = IDLE
    plan: dict[str, Any] | None = None


CASES = [
    Case("client", "CLIENT-BOUND", client=replace(IDLE, lag_p99=0.006)),
    Case("client", "95% of a core", client=replace(IDLE, cpu_share=0.95)),
    Case("client", "4.2 ms (p99) to send", {"taken": 0.004}),
    Case("client", "not known", client=None),
    Case("schedule", "LATE: requests were sent 20 ms (p50)", {"sent": 0.02}),
    Case("failures", "40 of 40 requests failed (http_500 40)", {"failure": "http_500"}),
    Case("failures", "interrupted after 40 of 40", client=replace(IDLE, interrupted=True)),
    Case("tokens", "one for each event", {"output_source": "events"}),
    Case("tokens", "7.0% more tokens of answers than tokenizer_path", {"output_tokens": 107, "counted_tokens": 100}),
    Case("tokens", "9.0% fewer", {"output_tokens": 91, "counted_tokens": 100}),
    Case("tokens", "25.0% more tokens of prompts", {"counted_input": 80}),
    Case("stream", "an event has 3 tokens", {"output_tokens": 96}),
    Case("lengths", "ignore_eos is not obeyed: 100%", plan={"ignores_eos": True}),
    Case("lengths", "100% of the answers are longer", {"output_tokens": 65}),
    Case("cache", "90% of the prompts' tokens", {"cached_tokens": 90}),
    Case("cache", "40% of the prompts' text", plan={"shared_prefix": 0.4}),
    Case("cache", "98% of the prompts were sent before", {"sample_id": "row 0"}),
    Case("warmup", "no warm-up", plan={"warmups": 0}),
    Case("values", "p90, p95, p99"),
]


@pytest.mark.thorough
def test_each_fault_is_found() -> None:
    for case in CASES:
        moments = {name: value for name, value in (case.fields or {}).items() if name in ("taken", "sent")}
        others = {name: value for name, value in (case.fields or {}).items() if name not in moments}
        exchanges = [replace(exchange(number, number / 20), **others) for number in range(40)]
        exchanges = [replace(one, **{name: one.due + late for name, late in moments.items()}) for one in exchanges]
        found = of(exchanges, client=case.client, **(case.plan or {}))[case.name]
        assert case.words in found.text
        assert not found.holds


def test_the_token_that_ends_an_answer_may_count() -> None:
    assert of([exchange(0, 0.0, output_tokens=2, counted_tokens=1)])["tokens"].holds


@pytest.mark.thorough
def test_a_limit_that_holds_back_a_rate_is_named() -> None:
    exchanges = [exchange(number, number / 20, first=1.0) for number in range(40)]
    schedule = Schedule("rate", [one.due for one in exchanges], 40, 8)
    found = verdicts(load(exchanges, schedule))["places"]
    assert found.text == "max_concurrency=8 limited the rate for 79% of the time"


@pytest.mark.thorough
def test_prompts_with_a_line_of_their_own_repeat_nothing() -> None:
    exchanges = [exchange(0, number / 20) for number in range(40)]
    assert of(exchanges, unique=True)["cache"].holds


@pytest.mark.thorough
def test_the_wait_for_a_place_is_not_the_fault_of_the_client() -> None:
    exchanges = [replace(exchange(number, number / 20), due=number / 20 - 3) for number in range(40)]
    schedule = Schedule("rate", [one.due for one in exchanges], 40, 8)
    assert verdicts(load(exchanges, schedule))["client"].holds


@pytest.mark.thorough
def test_gaps_that_are_too_short_are_those_of_one_read() -> None:
    found = of([exchange(number, number / 20, gap=0.0001) for number in range(40)])["stream"]
    assert not found.holds
    assert "100% of the gaps are shorter than 0.2 ms" in found.text


def test_answers_that_are_not_streamed_have_no_times_of_tokens() -> None:
    plain = [exchange(number, number / 20, kinds="", steps=b"") for number in range(40)]
    found = of(plain)["stream"]
    assert not found.holds
    assert "need stream=True" in found.text
    assert of([replace(one, failure="timeout") for one in plain])["stream"].holds


@pytest.mark.thorough
def test_a_queue_that_grows_is_not_steady_and_one_that_varies_is() -> None:
    rng = np.random.default_rng(1)
    due = [number / 20 for number in range(400)]
    for waits, holds in (
        ([0.05 + 0.1 * time for time in due], False),
        (rng.exponential(0.2, len(due)).tolist(), True),
        ([0.05 + 0.0001 * time for time in due], True),  # it grows, and no one would notice
    ):
        exchanges = [
            exchange(number, time, first=wait) for number, (time, wait) in enumerate(zip(due, waits, strict=True))
        ]
        found = of(exchanges)["steady"]
        assert found.holds is holds
    grown = of([exchange(number, time, first=0.05 + 0.1 * time) for number, time in enumerate(due)])["steady"]
    # A latency that grows by 0.1 s a second lets 20 / 1.1 of the 20 requests of a second end.
    assert grown.values["in_flight_per_second"] == pytest.approx(20 - 20 / 1.1, rel=0.05)
    assert "above the server's capacity" in grown.text


@pytest.mark.thorough
def test_a_steady_server_is_accused_rarely() -> None:
    accused = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        due = np.cumsum(rng.exponential(0.05, 300)).tolist()
        free, exchanges = 0.0, []
        for number, time in enumerate(due):  # one queue with a load of 70 %
            free = max(free, time) + float(rng.exponential(0.035))
            exchanges.append(exchange(number, time, first=free - time, pieces=1))
        accused += not of(exchanges)["steady"].holds
    assert accused <= 3


@pytest.mark.thorough
def test_another_model_and_other_options_are_seen() -> None:
    exchanges, _ = at_20(40, served="m v1", body="aa")
    assert of(exchanges)["server"].text == "m v1 answered"
    assert of(exchanges)["bodies"].holds
    exchanges[7] = replace(exchanges[7], served="m v2", body="bb")
    assert of(exchanges)["server"].text == "2 models or versions answered: m v1, m v2"
    assert not of(exchanges)["server"].holds
    assert not of(exchanges)["bodies"].holds


@pytest.mark.thorough
@pytest.mark.parametrize(("every", "holds"), [(2, True), (10, False)])
def test_replicas_with_unequal_loads_are_seen(every: int, holds: bool) -> None:
    exchanges, _ = at_20(40)
    spread = [replace(one, replica=f"http://{'a' if n % every else 'b'}") for n, one in enumerate(exchanges)]
    assert of(spread)["server"].holds is holds


def test_a_timeout_of_the_model_is_named() -> None:
    exchanges, _ = at_20(40, failure="timeout")
    assert "timeout=60 s of the model cut some" in of(exchanges, timeout=60.0)["failures"].text
