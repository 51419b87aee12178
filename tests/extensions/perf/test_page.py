"""Sweeps in the report: the points of `summary/perf.csv`, and where they bend."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ais_prompt.extensions import perf
from ais_prompt.extensions.perf.page import loads_json, sweeps_of
from ais_prompt.report import labels
from ais_prompt.store import RunFolder

HEADER = "model,dataset,point,ttft_seconds_p50,e2el_seconds_p50,output_tokens_per_second\n"


def test_points_of_a_sweep_are_read_and_those_without_answers_left_out(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert sweeps_of(folder) == []
    folder.summary_dir.mkdir()
    rows = ["m,d,concurrency=1,0.1,0.2,10", "m,d,concurrency=4,0.1,0.3,40", "m,d,concurrency=8,,,0", "m,other,x,1,2,3"]
    (folder.summary_dir / "perf.csv").write_text(HEADER + "\n".join(rows), "utf-8")
    [sweep] = sweeps_of(folder)
    assert (sweep["model"], sweep["dataset"], sweep["knee"]) == ("m", "d", None)
    assert [one["name"] for one in sweep["points"]] == ["concurrency=1", "concurrency=4"]
    assert sweep["points"][1]["e2el_seconds_p50"] == 0.3
    assert loads_json(folder)["loads"] == []


@pytest.mark.thorough
def test_every_label_of_loads_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISPROMPT_LANG", "zh")
    assets = Path(perf.__file__).parent / "assets"
    said = {label for one in assets.glob("*.js") for label in re.findall(r'\bsay\("([^"]+)"', one.read_text("utf-8"))}
    assert len(said) > 40
    assert said - set(labels()) == set()
