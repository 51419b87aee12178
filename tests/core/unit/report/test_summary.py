from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ais_prompt.errors import ModelError, StoreError
from ais_prompt.report import write_summary
from ais_prompt.scoring import TaskOutcome, summary_rows
from ais_prompt.types import Score

SCORE = Score(
    metric="accuracy",
    value=0.9351,
    stderr=0.0175,
    n=200,
    counts={"scored": 195, "unparsed": 3, "truncated": 1, "failed": 1},
    interval=(0.892, 0.962),
    bounds=(0.93, 0.95),
)
OUTCOMES = [
    TaskOutcome("demo", "addition", [SCORE]),
    TaskOutcome("通义千问", "a|b", error=ModelError('no such model, "x"', where="models[0]")),
]
ROWS = summary_rows(OUTCOMES)


def test_all_four_files_are_written_and_nothing_else(tmp_path: Path) -> None:
    write_summary(tmp_path / "summary", ROWS, ROWS)
    write_summary(tmp_path / "summary", ROWS, ROWS)
    files = sorted(path.name for path in (tmp_path / "summary").iterdir())
    assert files == ["summary.csv", "summary.json", "summary.md", "summary.txt"]


def test_csv_and_json_hold_full_precision_and_agree(tmp_path: Path) -> None:
    write_summary(tmp_path, ROWS, ROWS)
    rows = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert rows[0] == {
        "dataset": "addition",
        "model": "demo",
        "metric": "accuracy",
        "score": 0.9351,
        "stderr": 0.0175,
        "ci95_low": 0.892,
        "ci95_high": 0.962,
        "bound_low": 0.93,
        "bound_high": 0.95,
        "fraction": True,
        "n": 200,
        "of": None,
        "scored": 195,
        "unparsed": 3,
        "truncated": 1,
        "failed": 1,
        "repeats": 1,
        "refused": 0,
        "questions": None,
        "half_width": None,
        "target_half_width": None,
        "repeats_needed": None,
        "finished": None,
        "population": None,
        "lower_is_better": False,
        "unscored": "3 unparsed, 1 truncated, 1 failed",
        "note": "",
        **{"base_model": "", "base_dataset": "", "prompt": "", "options": ""},
    }
    assert rows[1]["model"] == "通义千问"
    assert rows[1]["note"] == 'error: ModelError: no such model, "x" · models[0]'
    with (tmp_path / "summary.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines == [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]


def test_markdown_has_models_side_by_side_then_all_there_is_then_notes(tmp_path: Path) -> None:
    write_summary(tmp_path, ROWS, ROWS)
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    side_by_side, long, said = text.split("\n\n")
    assert side_by_side.splitlines() == [
        "| dataset | metric | n | demo | 通义千问 |",
        "| --- | --- | ---: | ---: | ---: |",
        "| addition | accuracy | 200 | 93.5 % ±3.5 | not measured |",
        "| a\\|b |  |  | not measured | error |",
    ]
    assert long.splitlines()[2].startswith(
        "| addition | demo | accuracy | 93.5 % | 1.8 | 89.2–96.2 | 93.0–95.0 | 200 |"
    )
    assert len({line.replace("\\|", "").count("|") for line in long.splitlines()}) == 1
    assert '- 通义千问/a\\|b: error: ModelError: no such model, "x" · models[0]' in said.splitlines()
    assert "- demo/addition: 3 unparsed, 1 truncated, 1 failed of 200 [93.0–95.0]" in said.splitlines()


def test_people_see_what_was_chosen_and_files_for_programs_hold_all(tmp_path: Path) -> None:
    write_summary(tmp_path, ROWS, ROWS[:1])
    texts = {ending: (tmp_path / f"summary.{ending}").read_text("utf-8") for ending in ("txt", "md", "csv", "json")}
    assert [ending for ending, text in texts.items() if "通义千问" in text] == ["csv", "json"]


def test_markdown_of_one_model_is_one_table(tmp_path: Path) -> None:
    write_summary(tmp_path, ROWS[:1], ROWS[:1])
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").count("| dataset | ") == 1


def test_text_is_plain_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    write_summary(tmp_path, ROWS, ROWS)
    text = (tmp_path / "summary.txt").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert text.splitlines()[1].split() == "addition accuracy 200 93.5 % ±3.5 not measured".split()
    long = "addition demo accuracy 93.5 % 1.8 89.2–96.2 93.0–95.0 200 195 3 1 1".split()
    assert long in [line.split() for line in text.splitlines()]
    assert '通义千问/a|b: error: ModelError: no such model, "x" · models[0]' in text.splitlines()


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(StoreError, match=r"summary\.txt") as caught:
        write_summary(blocked, ROWS, ROWS)
    assert str(blocked) in caught.value.where
