"""What is wrong with a load, and what is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.perf.driver import ClientFacts
from ais_prompt.perf.exchange import Exchange
from ais_prompt.perf.files import StoredLoad
from ais_prompt.perf.metrics import load_table
from ais_prompt.perf.schedule import Schedule
from ais_prompt.perf.verdicts import LoadVerdict, load_verdicts
from ais_prompt.types.limits import LOAD_VERDICTS
from tests.unit.perf.loads import IDLE, at_20, exchange, load


def verdicts(stored: StoredLoad) -> dict[str, LoadVerdict]:
    found = load_verdicts(stored, load_table(stored.exchanges, stored.plan.schedule))
    assert tuple(one.name for one in found) == LOAD_VERDICTS
    assert all(one.text and "\n" not in one.text for one in found)
    return {one.name: one for one in found}


def of(exchanges: list[Exchange], **more: Any) -> dict[str, LoadVerdict]:
    return verdicts(load(exchanges, Schedule("rate", [one.due for one in exchanges], len(exchanges)), **more))


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
    Case("tokens", "7.0% more tokens than tokenizer_path", {"output_tokens": 107, "counted_tokens": 100}),
    Case("tokens", "9.0% fewer", {"output_tokens": 91, "counted_tokens": 100}),
    Case("lengths", "ignore_eos is not obeyed: 100%", plan={"ignores_eos": True}),
    Case("lengths", "100% of the answers are longer", {"output_tokens": 65}),
    Case("cache", "90% of the prompts' tokens", {"cached_tokens": 90}),
    Case("cache", "40% of the prompts' text", plan={"shared_prefix": 0.4}),
    Case("cache", "98% of the prompts were sent before", {"sample_id": "row 0"}),
    Case("warmup", "no warm-up", plan={"warmups": 0}),
    Case("values", "p90, p95, p99"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}: {case.words}")
def test_each_fault_is_found(case: Case) -> None:
    moments = {name: value for name, value in (case.fields or {}).items() if name in ("taken", "sent")}
    others = {name: value for name, value in (case.fields or {}).items() if name not in moments}
    exchanges = [replace(exchange(number, number / 20), **others) for number in range(40)]
    exchanges = [replace(one, **{name: one.due + late for name, late in moments.items()}) for one in exchanges]
    found = of(exchanges, client=case.client, **(case.plan or {}))[case.name]
    assert case.words in found.text
    assert not found.holds


def test_the_token_that_ends_an_answer_may_count() -> None:
    assert of([exchange(0, 0.0, output_tokens=2, counted_tokens=1)])["tokens"].holds


def test_a_limit_that_holds_back_a_rate_is_named() -> None:
    exchanges = [exchange(number, number / 20, first=1.0) for number in range(40)]
    schedule = Schedule("rate", [one.due for one in exchanges], 40, 8)
    found = verdicts(load(exchanges, schedule))["places"]
    assert found.text == "max_concurrency=8 limited the rate for 79% of the time"


def test_prompts_with_a_line_of_their_own_repeat_nothing() -> None:
    exchanges = [exchange(0, number / 20) for number in range(40)]
    assert of(exchanges, unique=True)["cache"].holds


def test_the_wait_for_a_place_is_not_the_fault_of_the_client() -> None:
    exchanges = [replace(exchange(number, number / 20), due=number / 20 - 3) for number in range(40)]
    schedule = Schedule("rate", [one.due for one in exchanges], 40, 8)
    assert verdicts(load(exchanges, schedule))["client"].holds
