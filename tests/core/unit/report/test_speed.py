from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from ais_prompt.report import print_speed, write_speed
from ais_prompt.types import Speed, Times

TIMES = Times(0.32, 0.3121, 0.4566, 123.4)
WHOLE = Speed(200, 12, 284, 188, 752, 7.67, 8.34, TIMES)
STREAMED = replace(WHOLE, first_token=TIMES, token=Times(0.0016, 0.0016, 0.002, 0.003))


def printed(width: int, **speeds: Speed) -> str:
    stream = io.StringIO()
    print_speed(speeds, Console(file=stream, width=width, force_terminal=True, color_system=None, _environ={}))
    return stream.getvalue()


def test_a_wide_terminal_shows_all() -> None:
    *_, line = printed(160, task=STREAMED).splitlines()
    assert line.split() == "task 200 24.51 98.04 0.31 0.46 123 0.31 0.46 123 1.6 8.34".split()


def test_what_is_not_streamed_has_no_first_token() -> None:
    assert "1st token" not in printed(160, task=WHOLE)
    assert "1st token" in printed(160, task=WHOLE, other=STREAMED)


@pytest.mark.parametrize("speed", [WHOLE, STREAMED])
def test_a_terminal_of_80_columns_cuts_no_number(speed: Speed) -> None:
    text = printed(80, **{"some-model/some-data-set": speed})
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert "24.51" in text


def test_files_have_everything(tmp_path: Path) -> None:
    write_speed(tmp_path, {"a/b": STREAMED, "a/c": WHOLE})
    values = json.loads((tmp_path / "speed.json").read_text())
    assert Speed.from_json(values["a/b"]) == STREAMED
    rows = list(csv.DictReader((tmp_path / "speed.csv").read_text().splitlines()))
    assert [row["task"] for row in rows] == ["a/b", "a/c"]
    assert (rows[0]["latency_p90"], rows[0]["first_token_p99"], rows[1]["first_token_p99"]) == ("0.4566", "123.4", "")
    assert float(rows[0]["requests_per_second"]) == STREAMED.requests_per_second


def test_nothing_served_leaves_no_files(tmp_path: Path) -> None:
    write_speed(tmp_path, {})
    assert not list(tmp_path.iterdir())
