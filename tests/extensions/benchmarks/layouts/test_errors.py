from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ais_prompt.data import data_places, find_data, load_dataset
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.benchmarks.layouts.layout_dataset import BenchmarkDataset
from ais_prompt.types import ReaderSpec
from tests.extensions.benchmarks.layouts.samples import CASES


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPASS_DATA_CACHE", raising=False)
    monkeypatch.delenv("AIS_BENCH_DATASETS_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def test_an_id_is_found_where_the_peers_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {
        "default": tmp_path / "home/.cache/opencompass",
        "working directory": tmp_path / "work",
        "cache": tmp_path / "cache",
    }
    assert find_data("opencompass/gsm8k") is None
    monkeypatch.setenv("COMPASS_DATA_CACHE", str(places["cache"]))
    for folder in places.values():  # each comes before those that are there already
        (folder / "data/gsm8k").mkdir(parents=True)
        found = find_data("opencompass/gsm8k")
        assert found is not None
        assert found.resolve() == folder / "data/gsm8k"


def test_data_of_aisbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIS_BENCH_DATASETS_CACHE", str(tmp_path))
    (tmp_path / "ais_bench/datasets/gsm8k").mkdir(parents=True)
    assert find_data("ais_bench/datasets/gsm8k") == tmp_path / "ais_bench/datasets/gsm8k"


def test_an_absolute_path_is_looked_up_nowhere_else(tmp_path: Path) -> None:
    assert data_places(str(tmp_path / "x")) == [tmp_path / "x"]


def test_absent_data_list_the_places_and_the_archive() -> None:
    with pytest.raises(DataError) as caught:
        BenchmarkDataset("GSM8KDataset", "opencompass/gsm8k").splits()
    assert caught.value.what == "no data for 'opencompass/gsm8k'"
    assert "data/gsm8k" in caught.value.where
    assert ".cache/opencompass" in caught.value.where
    assert "gsm8k.zip" in caught.value.fix
    assert "COMPASS_DATA_CACHE" in caught.value.fix


def test_absent_data_files_of_a_loaded_dataset() -> None:
    reader = BenchmarkDataset("HFDataset", "json", data_files="./data/CLUE/C3/dev.json", split="train")
    with pytest.raises(DataError, match="no data for") as caught:
        reader.splits()
    assert "CLUE/C3/dev.json" in caught.value.where


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"loader": "GSM9KDataset"}, "no layout for 'GSM9KDataset'"),
        ({"loader": "MMLUDataset"}, "MMLUDataset needs the argument 'name'"),
        ({"loader": "GSM8KDataset", "nam": "x"}, "GSM8KDataset has no argument 'nam'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigError, match=what) as caught:
        BenchmarkDataset(path="x", **arguments)
    assert caught.value.fix


def test_a_row_of_another_layout_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "dev.jsonl"
    file.write_text('{"sentence": "a _ b", "option1": "x", "option2": "y", "answer": "1"}\n{"text": "?"}\n')
    with pytest.raises(DataError) as caught:
        BenchmarkDataset("WinograndeDataset", str(tmp_path)).read("test")
    assert caught.value.where == f"{file}:2"
    assert "WinograndeDataset" in caught.value.what
    assert "sentence" in caught.value.what


def test_a_split_that_is_not_used_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"question": "q", "answer": "a"}\n', encoding="utf-8")
    reader = BenchmarkDataset("GSM8KDataset", str(tmp_path))
    assert len(reader.read("test")) == 1
    with pytest.raises(DataError, match="no such file"):
        reader.read("train")


def test_labels_of_another_file(tmp_path: Path) -> None:
    call = CASES["PIQADataset"].call(tmp_path)
    (tmp_path / "dev-labels.lst").write_text("1\n0\n", encoding="utf-8")
    with pytest.raises(DataError, match="1 row, but 2 labels"):
        BenchmarkDataset("PIQADataset", **call).read("validation")


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text("{}\n")
    with pytest.raises(DataError, match="needs a folder"):
        BenchmarkDataset("GSM8KDataset", str(file)).splits()


def test_no_rows_of_a_category(tmp_path: Path) -> None:
    call = CASES["ARCDataset"].call(tmp_path)
    Path(call["path"]).write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="no rows"):
        BenchmarkDataset("ARCDataset", **call).read("test")


def test_a_single_file_serves_as_train_and_test(tmp_path: Path) -> None:
    reader = BenchmarkDataset("ARCDataset", **CASES["ARCDataset"].call(tmp_path))
    data = load_dataset(reader, ReaderSpec(("question",), "answerKey"))
    assert [sample.gold for sample in data.test] == ["C"]
    assert data.train[0].fields == data.test[0].fields


def test_data_of_another_version_of_bfcl_name_the_package(tmp_path: Path) -> None:
    (tmp_path / "BFCL_v4_simple_python.json").write_text("{}")
    with pytest.raises(DataError) as caught:
        BenchmarkDataset("BFCLDataset", str(tmp_path), category="simple").read("test")
    assert "BFCL_v3_simple.json" in caught.value.where
    assert "bfcl-eval==2025.6.14" in caught.value.fix
