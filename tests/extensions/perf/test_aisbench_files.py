"""The files of a load against those that AISBench's own calculators write for the same requests."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS
from ais_prompt.extensions.perf.aisbench import AisbenchStage, aisbench_tables
from ais_prompt.extensions.perf.exchange import Exchange, offsets_of

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        PEER_FOLDERS.variable not in os.environ,
        reason=f"{PEER_FOLDERS.variable} names no sources of AISBench from 2026-08 on",
    ),
]
FOLDER = "ais_bench.benchmark.calculators"


@st.composite
def exchanges(draw: st.DrawFn) -> list[Exchange]:
    """Draw the requests of a load: streamed or not, answers of one token, some of them failures."""
    streamed = draw(st.booleans())
    gaps = st.integers(0, 2_000_000).map(lambda micros: micros / 1e6)
    found = []
    for number in range(draw(st.integers(1, 12))):
        taken = draw(gaps) * 3
        events = taken + np.cumsum(draw(st.lists(gaps, min_size=1, max_size=6))) + 1e-4
        found.append(
            Exchange(
                str(number),
                taken,
                taken,
                float(events[-1]),
                steps=offsets_of(taken, events if streamed else []).tobytes(),
                kinds="o" * len(events) if streamed else "",
                input_tokens=draw(st.integers(1, 5000)),
                output_tokens=draw(st.integers(1, 50)),
                failure="timeout" if number and draw(st.integers(0, 9)) == 0 else None,
            )
        )
    return found


@pytest.mark.parametrize("stage", ["total", "stable"])
@given(found=exchanges(), places=st.integers(1, 4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_files_are_theirs_to_the_byte(
    tmp_path: Path, stage: AisbenchStage, found: list[Exchange], places: int
) -> None:
    if stage == "stable":  # theirs counts the failures of other requests
        found = [one for one in found if one.failure is None]
    theirs = their_files(found, places, stage, tmp_path)
    if theirs is None:
        with pytest.raises(Exception, match="stable stage"):
            aisbench_tables(found, places, stage)
        return
    ours = aisbench_tables(found, places, stage)
    assert (ours.csv.encode(), ours.json.encode()) == theirs


def their_files(found: Sequence[Exchange], places: int, stage: str, folder: Path) -> tuple[bytes, bytes] | None:
    """Return what their calculator writes; None if it finds no stable stage."""
    name = {"total": "DefaultPerfMetricCalculator", "stable": "StablePerfMetricCalculator"}[stage]
    sys.path += [path for path in os.environ[PEER_FOLDERS.variable].split(os.pathsep) if path not in sys.path]
    module = importlib.import_module(f"{FOLDER}.{'default' if stage == 'total' else 'stable'}_perf_metric_calculator")
    calculator = getattr(module, name)()
    try:
        calculator._init_datas(their_details(found), places)
    except Exception as error:
        if "stable stage" not in str(error):
            raise
        return None
    if not calculator.infer_time[stage]:  # theirs divides by zero
        return None
    calculator.calculate()
    calculator.save_performance(str(folder / "t.csv"))
    return (folder / "t.csv").read_bytes(), json.dumps(calculator.get_common_res(), indent=4).encode()


def their_details(found: Sequence[Exchange]) -> dict[str, list[Any]]:
    """Return the numbers of each request, computed as `default_perf.py` of AISBench does."""
    details: dict[str, list[Any]] = {"success": [one.failure is None for one in found]}
    for one in found:
        if one.failure is not None:
            continue
        points = np.array([one.taken, *(one.events if one.kinds else [one.end])])
        latency, tokens = points[-1] - points[0], one.output_tokens or 0
        ttft = points[1] - points[0] if one.kinds else 0
        values = {
            "id": one.sample_id,
            "input_tokens": one.input_tokens,
            "output_tokens": tokens,
            "start_time": points[0],
            "end_time": points[-1],
            "latency": latency,
            "ttft": ttft,
            "tpot": (latency - ttft) / (tokens - 1) if one.kinds and tokens > 1 else 0,
            "itl": np.diff(points[1:]) if len(points) > 2 else [],
            "generate_tokens_speed": tokens / latency,
        }
        for key, value in values.items():
            details.setdefault(key, []).append(value)
    return details
