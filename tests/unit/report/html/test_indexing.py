"""The index of a run is the same in any number of parts, and shows the first samples while it is made."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import StoreError
from ais_prompt.report.html import full_text, indexing
from ais_prompt.report.html.finding import Finder, Query
from ais_prompt.report.html.index import part_file
from ais_prompt.report.html.indexing import Indexing, IndexWriter, index_samples
from ais_prompt.report.html.overview import TaskTotals
from ais_prompt.report.html.run_files import shown_tasks, summary_of
from ais_prompt.report.html.served import ServedReport
from ais_prompt.store.layout import RunFolder
from ais_prompt.types import Completion, Prediction, SampleScore
from tests.unit.report.html.making import make_run
from tests.waiting import WATCHDOG_SECONDS

SAMPLES = 37
TEXTS = ["The ANSWER is 7.", "Ответ: ДА, ÉTÉ", "数论 \ud800 end", 'a "quoted"\nline']


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    predictions, scores = [], []
    for number in range(SAMPLES):
        text = f"{TEXTS[number % len(TEXTS)]} {number}"
        answer = Completion(text, seconds=float(number % 5))
        columns = {"level": number % 3}
        prompt = f"Shot: 1+1\nQuestion {number}: how much?"
        predictions.append(Prediction(f"id{number}", number, prompt, text, "g", (answer,), columns=columns))
        scores.append(SampleScore(f"id{number}", "scored", f"x{number}", "g", {"accuracy": float(number % 2)}))
    return make_run(tmp_path, predictions, scores)


def rows(folder: RunFolder) -> list[dict[str, Any]]:
    return Indexing(folder).whole().rows(range(SAMPLES))


@pytest.mark.parametrize(("part", "batch"), [(1, 1), (4, 4), (10, 5), (100, 7)])
def test_parts_do_not_change_what_is_shown(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, part: int, batch: int
) -> None:
    monkeypatch.setattr(indexing, "BATCH_SAMPLES", batch)
    in_one = rows(folder)
    (folder.view / "overview.json").unlink()
    monkeypatch.setattr(indexing, "PART_SAMPLES", part)
    assert rows(folder) == in_one
    assert len(list(folder.view.glob("*.arrow"))) == -(-SAMPLES // max(part, batch)) if part < SAMPLES else 1


def test_parts_of_an_earlier_index_are_removed(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BATCH_SAMPLES", 5)
    monkeypatch.setattr(indexing, "PART_SAMPLES", 5)
    rows(folder)
    (folder.view / "overview.json").unlink()
    (folder.view / "samples.arrow").write_text("of version 1")
    monkeypatch.setattr(indexing, "PART_SAMPLES", 20)
    rows(folder)
    assert sorted(folder.view.glob("*.arrow")) == [part_file(folder, 0), part_file(folder, 1)]


def test_each_state_of_the_index_shows_the_first_samples(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BATCH_SAMPLES", 5)
    monkeypatch.setattr(indexing, "PART_SAMPLES", 10)
    every = rows(folder)
    totals = [TaskTotals(task) for task in shown_tasks(folder, summary_of(folder))]
    writer = IndexWriter(folder, summary_of(folder), totals)
    seen, shares = [], [0.0]
    for _ in index_samples(writer, totals, folder):
        index = writer.so_far()
        seen.append(index.table.num_rows)
        shares.append(writer.share)
        assert index.rows(range(seen[-1])) == every[: seen[-1]]
        assert [task["samples"] for task in index.overview["tasks"]] == [seen[-1]]
        assert Finder(index).find(Query(states=("wrong",))).rows.tolist() == list(range(0, seen[-1], 2))
    assert seen == [10, 20, 30]
    assert shares == sorted(shares)
    assert shares[-1] < 1
    assert writer.end().rows(range(SAMPLES)) == every


def test_a_page_that_has_the_first_samples_learns_of_the_others(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH_SAMPLES", 1)
    monkeypatch.setattr(indexing, "PART_SAMPLES", 1)
    report = ServedReport(folder)
    assert report.indexed() == (1.0, 0)
    report.overview()
    end = time.monotonic() + WATCHDOG_SECONDS
    while report.indexed() != (1.0, SAMPLES):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert report.overview()["version"].endswith(f"-{SAMPLES}")
    assert report.rows("from=0&to=100")["length"] == SAMPLES


def test_a_page_hears_why_there_is_no_index(folder: RunFolder) -> None:
    folder.view.write_text("a file, where the folder would be")
    found = Indexing(folder)
    with pytest.raises(StoreError, match="cannot write"):
        found.newest()
    with pytest.raises(StoreError, match="cannot write"):
        found.whole()
    assert found.share == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("answer", range(0, SAMPLES, 4)),
        ("да, été 5", [5]),
        ("数论", range(2, SAMPLES, 4)),
        ('"quoted"\nline 7', [7]),
        ("question 36", [36]),
        ("x3", [3, *range(30, 37)]),
        ("absent", []),
    ],
)
def test_a_search_finds_the_same_after_each_pause(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, text: str, numbers: Any
) -> None:
    monkeypatch.setattr(full_text, "PAUSE_SECONDS", -1.0)  # after every step
    monkeypatch.setattr(full_text, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(full_text, "BLOCK_BYTES", 1)
    finder, end = Finder(Indexing(folder).whole()), time.monotonic() + WATCHDOG_SECONDS
    while (found := finder.find(Query(text=text))).share < 1:
        assert time.monotonic() < end
    assert found.rows.tolist() == list(numbers)
