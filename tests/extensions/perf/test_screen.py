"""What is printed of a load: few lines, no percentile of too few values, and first what voids the numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.console import Console

from ais_prompt.extensions.perf.driver import ClientFacts
from ais_prompt.extensions.perf.exchange import Exchange
from ais_prompt.extensions.perf.load_result import LoadResult
from ais_prompt.extensions.perf.load_tables import FEW, print_loads
from ais_prompt.extensions.perf.load_verdicts import SLO, VALUES, VOIDING, LoadVerdict, goodput, load_verdicts
from ais_prompt.extensions.perf.metrics import LEAST_BEYOND, load_table
from ais_prompt.extensions.perf.schedule import Schedule
from ais_prompt.extensions.perf.section import parse_slo
from tests.extensions.perf.loads import BUSY, IDLE, TASK, at_20, exchange, load


def measured(
    exchanges: Sequence[Exchange], schedule: Schedule, *slos: str, client: ClientFacts = IDLE, warmups: int = 1
) -> LoadResult:
    stored = load(exchanges, schedule, client, warmups=warmups)
    table = load_table(exchanges, schedule)
    goals = goodput(exchanges, schedule, table, [parse_slo(text, "--slo") for text in slos])
    return LoadResult(TASK, stored, table, None, None, "", load_verdicts(stored, table, goals), goals)


def screen(*results: LoadResult, width: int = 80, terminal: bool = True) -> str:
    stream = io.StringIO()
    print_loads(results, Console(file=stream, width=width, force_terminal=terminal, color_system=None, _environ={}))
    return stream.getvalue()


def closed(count: int) -> LoadResult:
    return measured([exchange(number, number / 20) for number in range(count)], Schedule("closed", (), count, 8))


def test_a_load_is_ten_lines_at_most() -> None:
    result = measured(*at_20(500), "p99 ttft <= 2s", "p90 tpot <= 1ms", client=BUSY)
    lines = screen(result, width=140).splitlines()
    assert len([line for line in lines if line.strip()]) <= 12
    assert lines[0].startswith("fake/sums · 500 requests at 20.04/s · ")
    assert lines[0].endswith(" in flight · 100 → 32 tokens")
    assert lines[1].startswith("!! CLIENT-BOUND: ")
    assert lines[2].split()[:3] == ["p50", "p90", "p99"]
    assert [line.split()[0] for line in lines[3:6]] == ["TTFT*", "TPOT", "E2EL*"]
    assert [line.split()[:2] for line in lines if "meet it" in line] == [["ok", "slo"], ["FAIL", "slo"]]
    assert "checks: 12 ok · 1 warning: client\n" in screen(result)


def test_lines_fit_the_terminal() -> None:
    result = measured(*at_20(500), "p99 ttft <= 2s", client=BUSY)
    for width in (40, 80, 140):
        assert max(map(len, screen(result, width=width).splitlines())) <= width


@pytest.mark.thorough
@given(st.integers(1, 700), st.integers(1, FEW + 2))
def test_a_percentile_is_printed_if_values_enough_are_beyond_it(count: int, loads: int) -> None:
    shown = screen(*[closed(count)] * loads, width=200)
    for percent in {int(found) for found in re.findall(r"\bp(\d\d)\b(?! needs)", shown)} - {50}:
        assert count * (100 - percent) >= 100 * LEAST_BEYOND
    assert ("p99" in shown.replace("p99 needs", "")) == (count >= 500)
    assert VALUES not in shown


def test_what_voids_the_numbers_stands_above_them_and_other_warnings_below() -> None:
    result = measured(*at_20(500))
    names = {one.name for one in result.verdicts}
    assert set(VOIDING) < names
    for name in names - {SLO, VALUES}:
        wrong = [LoadVerdict(one.name, one.name != name, f"about {one.name}") for one in result.verdicts]
        shown = screen(replace(result, verdicts=wrong))
        assert (shown.index(f"about {name}") < shown.index("TTFT")) == (name in VOIDING)
        assert shown.count("about ") == 1
        assert f"12 ok · 1 warning: {name}" in shown


def test_of_many_loads_each_has_what_voids_its_numbers_beside_them() -> None:
    good = measured(*at_20(500))
    wrong = measured(*at_20(500), client=BUSY)
    header, *lines = screen(*[good] * FEW, wrong, width=200).splitlines()
    assert header.split()[:2] == ["load", "!!"]
    assert [" client " in line for line in lines[: FEW + 1]] == [False] * FEW + [True]
    assert "!!" not in screen(*[good] * (FEW + 1), width=200)


def test_failures_are_counted_beside_the_requests() -> None:
    exchanges, schedule = at_20(200)
    exchanges[7] = exchange(7, 7 / 20, failure="http_500")
    assert " · 1 failed · " in screen(measured(exchanges, schedule)).splitlines()[0]
    none = [exchange(number, number / 20, failure="http_500") for number in range(20)]
    shown = screen(measured(none, Schedule("closed", (), 20, 8)))
    assert " · 20 failed" in shown.splitlines()[0]
    assert "TTFT ms" not in shown


def test_an_answer_in_one_piece_has_its_throughput() -> None:
    exchanges = [exchange(number, number / 20, kinds="", steps=b"") for number in range(20)]
    shown = screen(measured(exchanges, Schedule("closed", (), 20, 8)))
    assert "TTFT" not in shown.partition("WARN")[0]
    assert all(unit in shown for unit in ("requests/s", "tokens out/s", "tokens in/s"))
