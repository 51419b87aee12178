from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ais_prompt.errors import ModelError, StoreError
from ais_prompt.report.outcome import TaskOutcome
from ais_prompt.report.summary import write_summary
from ais_prompt.types import Score

OUTCOMES = [
    TaskOutcome(
        "demo",
        "addition",
        [Score("accuracy", 0.9351, 0.0175, 200, {"scored": 195, "unparsed": 3, "truncated": 1, "failed": 1})],
    ),
    TaskOutcome("通义千问", "a|b", error=ModelError('no such model, "x"', where="models[0]")),
]


def test_all_four_files_are_written_and_nothing_else(tmp_path: Path) -> None:
    write_summary(tmp_path / "summary", OUTCOMES)
    write_summary(tmp_path / "summary", OUTCOMES)
    files = sorted(path.name for path in (tmp_path / "summary").iterdir())
    assert files == ["summary.csv", "summary.json", "summary.md", "summary.txt"]


def test_csv_and_json_hold_full_precision_and_agree(tmp_path: Path) -> None:
    write_summary(tmp_path, OUTCOMES)
    rows = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert rows[0] == {
        "dataset": "addition",
        "model": "demo",
        "metric": "accuracy",
        "score": 0.9351,
        "stderr": 0.0175,
        "n": 200,
        "scored": 195,
        "unparsed": 3,
        "truncated": 1,
        "failed": 1,
        "note": "",
    }
    assert rows[1]["model"] == "通义千问"
    assert rows[1]["note"] == 'error: ModelError: no such model, "x" · models[0]'
    with (tmp_path / "summary.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines == [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]


def test_markdown_is_a_table_with_percent(tmp_path: Path) -> None:
    write_summary(tmp_path, OUTCOMES)
    lines = (tmp_path / "summary.md").read_text(encoding="utf-8").splitlines()
    assert lines[2] == "| addition | demo | accuracy | 93.5 % | 1.8 % | 200 | 195 | 3 | 1 | 1 |  |"
    assert lines[3].startswith("| a\\|b | 通义千问 |  |  |")
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


def test_text_is_plain_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    write_summary(tmp_path, OUTCOMES)
    text = (tmp_path / "summary.txt").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert text.splitlines()[1].split() == "addition demo accuracy 93.5 % 1.8 200 195 3 1 1".split()
    assert '通义千问/a|b: error: ModelError: no such model, "x" · models[0]' in text.splitlines()


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(StoreError, match=r"summary\.txt") as caught:
        write_summary(blocked, OUTCOMES)
    assert str(blocked) in caught.value.where
