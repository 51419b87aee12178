"""Several loads: their names, the knee, the spread of runs, and the search for a rate."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.console import Console

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.perf.load_result import LoadResult
from ais_prompt.extensions.perf.load_tables import print_sweep
from ais_prompt.extensions.perf.load_verdicts import LoadVerdict, goodput
from ais_prompt.extensions.perf.metrics import load_table
from ais_prompt.extensions.perf.perf_run import PerfRun
from ais_prompt.extensions.perf.points import (
    CLOSE_ENOUGH,
    MOST_HALVINGS,
    PointRun,
    Setting,
    knee,
    read_sweep,
    runs_verdict,
    search_rate,
)
from ais_prompt.extensions.perf.section import parse_slo
from ais_prompt.extensions.perf.sweep import Sweep, SweepLoad, plan_at
from ais_prompt.plan import Plan
from ais_prompt.store import RunFolder
from ais_prompt.types import ModelSpec, PartSpec, RunSpec
from tests.extensions.perf.loads import TASK, at_20, load


def test_a_sweep_is_read() -> None:
    assert [(one.key, one.value) for one in read_sweep("concurrency = 1, 4,16")] == [
        ("max_concurrency", 1),
        ("max_concurrency", 4),
        ("max_concurrency", 16),
    ]
    assert [one.value for one in read_sweep("x=0.5,True,None,high")] == [0.5, True, None, "high"]


@pytest.mark.parametrize(
    "text", ["concurrency", "=1,2", "concurrency=1,,2", "concurrency=", "a b=1", "concurrency=1,1"]
)
def test_what_is_no_sweep_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"no sweep|a value twice"):
        read_sweep(text)


@given(
    st.integers(1, 200),
    st.none() | st.builds(Setting, st.just("key"), st.text(min_size=1, max_size=20)),
    st.integers(0, 30),
)
def test_a_load_is_found_again_by_the_name_of_its_folder(number: int, setting: Setting | None, run: int) -> None:
    point = PointRun(number, setting, run)
    assert PointRun.of_folder(point.folder_name) == point
    assert "/" not in point.folder_name


def test_other_folders_are_no_loads() -> None:
    assert PointRun.of_folder("journal") is None
    assert RunFolder(Path("x")).loads == Path("x/loads")


@pytest.mark.parametrize(
    ("points", "place"),
    [
        ([(30, 0.30), (115, 0.31), (380, 0.40), (420, 0.75), (430, 1.60)], 2),
        ([(430, 1.60), (380, 0.40), (30, 0.30)], 1),
        ([(100, 1.0), (380, 1.1), (370, 3.2)], 1),
        ([(30, 0.3), (60, 0.3), (120, 0.3)], None),
        ([(100, 1.0), (380, 1.1), (1600, 1.2)], None),
        ([(30, 0.3), (60, 0.6)], None),
        ([(100, 0.3), (100, 0.6), (100, 1.2)], None),
        ([(10, 1.0), (20, 2.0), (30, 3.0)], None),
        ([(0, math.inf), (0, math.inf), (0, math.inf)], None),
    ],
)
def test_the_knee_has_the_most_throughput_for_its_latency(points: list[tuple[float, float]], place: int | None) -> None:
    assert knee([rate for rate, _ in points], [latency for _, latency in points]) == place


@pytest.mark.thorough
def test_runs_that_differ_by_more_than_their_intervals_are_found() -> None:
    noisy = [load_table(*at_20(200)) for _ in range(3)]
    alike = [
        replace(
            one,
            distributions={"ttft_seconds": replace(one.distributions["ttft_seconds"], intervals={"p50": (0.04, 0.06)})},
        )
        for one in noisy
    ]
    assert runs_verdict(alike).holds
    ttft = alike[2].distributions["ttft_seconds"]
    other = replace(
        alike[2], distributions={"ttft_seconds": replace(ttft, percentiles={**ttft.percentiles, "p50": 0.11})}
    )
    found = runs_verdict([*alike[:2], other])
    assert not found.holds
    assert "ttft_seconds_p50 differs by 3 × its interval" in found.text
    assert runs_verdict([load_table(*at_20(4))] * 2).text == "2 runs have too few requests for intervals"


def searched(passes: Callable[[float], bool], start: float) -> list[float]:
    """Return the rates that a search tests."""
    search = search_rate(start)
    tested = [next(search)]
    while True:
        try:
            tested.append(search.send(passes(tested[-1])))
        except StopIteration:
            return tested


@given(st.floats(0.1, 1000), st.floats(0.05, 20_000))
def test_a_search_ends_close_below_the_limit(start: float, limit: float) -> None:
    tested = searched(lambda rate: rate <= limit, start)
    passed = [rate for rate in tested if rate <= limit]
    if not passed:
        assert start / 2**MOST_HALVINGS > limit
        return
    assert max(passed) <= limit <= CLOSE_ENOUGH * max(passed) * 1.001
    assert len(tested) < 30


def test_a_search_has_an_end_where_everything_passes() -> None:
    assert max(searched(lambda _: True, 1.0)) <= 100_000


def measured(option: str, text: str, run: int = 0, *wrong: str) -> SweepLoad:
    """Return a load whose goal is met, with verdicts of these names that do not hold."""
    exchanges, schedule = at_20(40)
    numbers = load_table(exchanges, schedule)
    goals = goodput(exchanges, schedule, numbers, [parse_slo("p50 ttft <= 2s", "")])
    verdicts = [LoadVerdict(name, holds=name not in wrong, text="") for name in ("client", "slo", "failures", "cache")]
    result = LoadResult(TASK, load(exchanges, schedule), numbers, None, None, "", verdicts, goals)
    return SweepLoad(PointRun(1, Setting(option, text), run), PerfRun(RunFolder(Path("x")), [result], {}))


def best(*loads: SweepLoad) -> str:
    return str(Sweep(RunFolder(Path("x")), loads).best)


@pytest.mark.thorough
def test_the_best_rate_is_the_largest_at_which_every_run_passed() -> None:
    rates = [measured("request_rate", "1"), measured("request_rate", "9"), measured("request_rate", "10", 0, "slo")]
    assert best(*rates) == "request_rate=9"
    assert best(*rates, measured("request_rate", "9", 2, "failures")) == "request_rate=1"
    assert best(measured("request_rate", "3", 0, "client")) == "None", "the client was the limit"
    assert best(measured("request_rate", "3", 0, "cache")) == "request_rate=3"
    assert best(measured("concurrency", "3")) == "None"


def test_an_option_is_set_where_the_config_has_it() -> None:
    models: list[dict[str, Any]] = [{"limits": {"max_concurrency": 3}}, {"stream": True}]
    specs = [ModelSpec(str(number), PartSpec("X", args)) for number, args in enumerate(models)]
    spec = RunSpec("x", tuple(specs), (), Path("x"), None, {"models": models})
    found = plan_at(Plan(spec), read_sweep("concurrency=7")[0]).spec
    expected = [{"limits": {"max_concurrency": 7}}, {"stream": True, "max_concurrency": 7}]
    assert [one.part.args for one in found.models] == expected
    assert found.resolved["models"] == expected
    assert models[0] == {"limits": {"max_concurrency": 3}}


@pytest.mark.thorough
def test_a_search_that_ends_at_the_client_says_at_least() -> None:
    cases = [
        ([], True),
        ([measured("request_rate", "20", 0, "slo")], False),
        ([measured("request_rate", "20", 0, "client")], True),
        ([measured("request_rate", "20", 0, "client", "slo")], True),
        ([measured("request_rate", "20", 1, "client"), measured("request_rate", "20", 2, "failures")], False),
        ([measured("request_rate", "20", 0, "slo"), measured("request_rate", "40", 0, "client")], False),
    ]
    for above, is_least in cases:
        sweep = Sweep(RunFolder(Path("x")), [measured("request_rate", "9"), *above])
        assert (str(sweep.best), sweep.best_is_least) == ("request_rate=9", is_least)
        stream = io.StringIO()
        console = Console(file=stream, width=200, _environ={})
        print_sweep(sweep.results, sweep.best, "", console, best_is_least=sweep.best_is_least)
        assert ("at least request_rate=9" in stream.getvalue()) == is_least
        assert not Sweep(RunFolder(Path("x")), above).best_is_least
