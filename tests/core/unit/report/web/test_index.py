"""The index of a run: what the server finds in it is what a search through all rows finds, at any size, at any time."""

from __future__ import annotations

import json
import sqlite3
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, StoreError
from ais_prompt.report import ORDERS, STATES, FoundSamples, Query, SampleIndex, ServedReport, find, json_text
from ais_prompt.report.web import index as index_module
from ais_prompt.store import RunFolder
from ais_prompt.types import Completion, Prediction, SampleScore
from tests.core.unit.report.web.making import make_run
from tests.support.waiting import WATCHDOG_SECONDS

SAMPLES = 60
LEVELS = [1, 2, "two", 'a "quoted", text', "数论", True, "x\ud800", None]
TEXTS = ["The ANSWER is 7.", "Ответ: ДА, ÉTÉ", "数论 \ud800 end", 'a "quoted"\nline', "100 % [a-z]* ?"]


def make(root: Path) -> RunFolder:
    predictions, scores = [], []
    for number in range(SAMPLES):
        columns = {"level": LEVELS[number % len(LEVELS)], "note": f'level":{number % 3}'}
        answer = Completion(f"{TEXTS[number % len(TEXTS)]} {number}", seconds=float(number * 7 % 13), reasoning="Hmm")
        prompt = f"Shot: 1+1\nQuestion {number}: how much?"
        predictions.append(Prediction(f"id{number}", number, prompt, answer.text, "g", (answer,), columns=columns))
        status: Any = "failed" if number % 7 == 0 else "scored"
        values = {} if status == "failed" else {"accuracy": float(number % 2)}
        scores.append(SampleScore(f"id{number}", status, f"x{number}", "g", values))
    return make_run(root, predictions, scores)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return make(tmp_path)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    """An index that is whole, with trigrams if this SQLite has them."""
    return SampleIndex(make(tmp_path_factory.mktemp("run"))).wait(whole=True)


def every(index: SampleIndex) -> list[dict[str, Any]]:
    return [index.row(number) for number in range(index.size)]


def found(index: SampleIndex, query: Query) -> FoundSamples:
    return find(index, query, index.size)


def numbers(index: SampleIndex, text: str) -> list[int]:
    return found(index, Query(text=text)).numbers.tolist()


@given(
    states=st.lists(st.sampled_from(STATES), unique=True, max_size=3),
    level=st.none() | st.sampled_from(LEVELS),
    sort=st.sampled_from(["", *sorted(ORDERS)]),
    down=st.booleans(),
)
def test_filters_and_order_are_those_of_all_rows(
    index: SampleIndex, states: list[str], level: Any, sort: str, down: bool
) -> None:
    columns = () if level is None else (("level", json_text(level)),)
    passing = found(index, Query(("other", "model"), ("sums",), tuple(states), columns, sort=sort, down=down))
    shown_level = "x?" if level == "x\ud800" else level
    same = [row for row in every(index) if level is None or repr(row["columns"]["level"]) == repr(shown_level)]
    shown = [row for row in same if not states or row["state"] in states]
    assert sorted(passing.numbers) == [row["number"] for row in shown]
    assert passing.states == {state: n for state in STATES if (n := sum(row["state"] == state for row in same))}
    if sort not in ("", "model", "dataset"):
        name = "characters" if sort == "length" else sort
        keys = [index.row(number)[name] for number in passing.numbers]
        known = [index_module.WORST_FIRST.index(key) if sort == "state" else key for key in keys if key is not None]
        assert known == sorted(known, reverse=down)
        assert None not in keys[: len(known)]


def test_the_page_and_the_index_have_the_same_orders_of_states() -> None:
    script = (files("ais_prompt.report.web") / "assets" / "plots.js").read_text("utf-8")
    assert f"const STATES = {json.dumps(STATES)};" in script
    assert f"const WORST_FIRST = {json.dumps(index_module.WORST_FIRST)};" in script
    assert sorted(index_module.WORST_FIRST) == sorted(STATES)


def test_other_models_and_datasets_have_no_samples(index: SampleIndex) -> None:
    assert not found(index, Query(models=("mode",))).numbers
    assert not found(index, Query(datasets=("sum",))).numbers


@pytest.mark.parametrize("with_trigrams", [True, False])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("answer is 7", range(0, SAMPLES, 5)),
        ("ANSWER IS 7. 45", [45]),
        ("да, été 6", [6]),
        ("数论", range(2, SAMPLES, 5)),
        ("论 ? E", range(2, SAMPLES, 5)),
        ("论 \ud800 e", range(2, SAMPLES, 5)),
        ('"quoted"\nline 8', [8]),
        ("% [a-z]* ?", range(4, SAMPLES, 5)),
        ("a\0b", []),
        ("\0\0\0", []),
        ("question 36", [36]),
        ("x3", [3, *range(30, 40)]),
        ("hmm", range(SAMPLES)),
        ("shot: 1+1", [0]),  # the first prompt has none before it, so all of it is its question
        ("absent", []),
        ("m" * 100_000, []),
    ],
)
def test_whole_texts_are_searched_but_shared_lines_are_not(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch, with_trigrams: bool, text: str, expected: Any
) -> None:
    monkeypatch.setattr(index, "has_trigrams", with_trigrams and index.has_trigrams)
    assert numbers(index, text) == list(expected)


@given(text=st.text(st.sampled_from('aA"é数\ud800%*? İΣς'), min_size=1, max_size=5))
def test_trigrams_find_what_a_search_through_all_texts_finds(index: SampleIndex, text: str) -> None:
    both = []
    for with_trigrams in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(index, "has_trigrams", with_trigrams and index.has_trigrams)
            both.append(numbers(index, text))
    assert both[0] == both[1]


def test_an_sqlite_without_trigrams_makes_the_same_index(
    index: SampleIndex, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_TRIGRAMS", "CREATE VIRTUAL TABLE trigrams USING no_such_module(text)")
    for _ in ("made", "opened"):
        other = SampleIndex(folder).wait(whole=True)
        assert not other.has_trigrams
        assert every(other) == every(index)
        assert numbers(other, "answer is 7") == numbers(index, "answer is 7")


@pytest.mark.parametrize("batch", [2, 7])
def test_batches_do_not_change_what_is_found(
    index: SampleIndex, folder: RunFolder, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(index_module, "BATCH_SAMPLES", batch)
    other = SampleIndex(folder).wait(whole=True)
    assert every(other) == every(index)
    assert [numbers(other, text) for text in ("shot", "quest")] == [[0], list(range(SAMPLES))]


def test_the_first_samples_are_shown_while_the_others_are_read(
    index: SampleIndex, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "BATCH_SAMPLES", 5)
    monkeypatch.setattr(index_module, "FIRST_SAMPLES", 10)
    whole, seen, shares = every(index), [], [0.0]
    publish = SampleIndex._publish

    def published(self: SampleIndex, *values: Any) -> None:
        publish(self, *values)
        seen.append(self.size)
        shares.append(self.share)
        assert every(self) == whole[: self.size]
        assert [task["samples"] for task in self.overview["tasks"]] == [self.size]
        wrong = [row["number"] for row in whole[: self.size] if row["state"] == "wrong"]
        assert found(self, Query(states=("wrong",))).numbers.tolist() == wrong
        assert numbers(self, "hmm") == list(range(self.size))

    monkeypatch.setattr(SampleIndex, "_publish", published)
    SampleIndex(folder).wait(whole=True)
    assert seen == [10, 20, 40, 60]
    assert shares == sorted(shares)
    assert shares[-1] < 1


def test_a_page_that_has_the_first_samples_learns_of_the_others(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "BATCH_SAMPLES", 1)
    monkeypatch.setattr(index_module, "FIRST_SAMPLES", 1)
    report = ServedReport(folder)
    assert report.indexed() == (1.0, 0)
    report.overview()
    end = time.monotonic() + WATCHDOG_SECONDS
    while report.indexed() != (1.0, SAMPLES):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert report.overview()["version"].endswith(f"-{SAMPLES}")
    assert report.rows("from=0&to=100")["length"] == SAMPLES


def test_a_sample_is_found_by_its_name(folder: RunFolder) -> None:
    report = ServedReport(folder)
    report.index().wait(whole=True)

    def place(name: str) -> tuple[Any, int]:
        answer = report.rows(f"state=wrong&sample={name}")
        return answer["named"] and answer["named"]["number"], answer["position"]

    assert place("model/sums/id2") == (2, 0)
    assert place("model/sums/id1") == (1, -1)
    assert place("model/sums/none") == place("id2") == place("/") == (None, -1)


def test_an_address_is_read_and_a_broken_one_refused() -> None:
    query = Query.parse("model=a%2Fb&model=c&state=wrong&state=evil&column=%5B%22x%22%2C1%5D&sort=rm&down=true&query=q")
    assert query == Query(("a/b", "c"), (), ("wrong",), (("x", "1"),), "q", "", True)
    for column in ("7", "{", "[1]", "[1,2,3]"):
        with pytest.raises(ConfigError):
            Query.parse(f"column={column}")


def spoil_version(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE run SET version = 0")


def spoil_end(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM run")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[RunFolder]:
    """The folders whose samples were read."""
    folders: list[RunFolder] = []
    make_index = SampleIndex._make

    def counted(self: SampleIndex) -> None:
        folders.append(self.folder)
        make_index(self)

    monkeypatch.setattr(SampleIndex, "_make", counted)
    return folders


@pytest.mark.thorough
@pytest.mark.parametrize(
    "spoil", [spoil_version, spoil_end, lambda path: path.write_bytes(b"no database"), Path.unlink, None]
)
def test_an_index_is_made_again_if_it_is_not_whole(folder: RunFolder, made: list[RunFolder], spoil: Any) -> None:
    rows = every(SampleIndex(folder).wait(whole=True))
    path = folder.view / "samples.sqlite"
    if spoil is not None:
        spoil(path)
    for _ in range(2):
        assert every(SampleIndex(folder).wait(whole=True)) == rows
    assert len(made) == (1 if spoil is None else 2)


@pytest.mark.parametrize("change", ["scores", "owner"])
def test_an_index_of_other_scores_or_of_somebody_else_is_not_used(
    folder: RunFolder, made: list[RunFolder], change: str
) -> None:
    first = SampleIndex(folder).wait(whole=True)
    summary = folder.summary_dir / "summary.json"
    if change == "scores":
        summary.write_bytes(summary.read_bytes())
    else:
        folder.made_here_file.unlink()
    SampleIndex(folder).wait(whole=True)
    assert len(made) == 2
    assert first.row(3)["id"] == "id3"  # a page that has the earlier one open goes on


def test_a_page_hears_why_there_is_no_index(folder: RunFolder) -> None:
    folder.view.write_text("a file, where the folder would be")
    index = SampleIndex(folder)
    for whole in (False, True):
        with pytest.raises(StoreError, match="cannot write"):
            index.wait(whole=whole)
    assert index.share == 1


def test_a_file_that_breaks_is_told(index: SampleIndex) -> None:
    with pytest.raises(StoreError, match="cannot use the index: no such table") as caught:
        index.select("SELECT 1 FROM no_table")
    assert caught.value.fix == "free space if the disk is full; else remove the file: it is made again"
