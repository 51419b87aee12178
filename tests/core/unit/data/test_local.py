from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ais_prompt.data import LocalDataset
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.registry import READERS

WriteJsonl: TypeAlias = Callable[[str, Sequence[Mapping[str, Any]]], str]


def test_it_is_registered() -> None:
    assert READERS.get("LocalDataset") is LocalDataset


def test_a_file_is_one_split(write_jsonl: WriteJsonl) -> None:
    reader = LocalDataset(write_jsonl("train.v2.jsonl", [{"q": 1}]))
    assert reader.splits() == ("train.v2",)
    assert list(reader.read("train.v2")) == [{"q": 1}]


def test_a_folder_has_the_splits_of_its_files(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    for name in ("test", "train", "dev", "validation", "other"):
        write_jsonl(f"{name}.jsonl", [{"q": name}])
    (tmp_path / "README.md").write_text("text")
    (tmp_path / "train").mkdir()
    reader = LocalDataset(str(tmp_path))
    assert reader.splits() == ("train", "validation", "dev", "test")
    assert [row["q"] for split in reader.splits() for row in reader.read(split)] == list(reader.splits())


def test_a_folder_with_two_files_for_one_split(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    write_jsonl("train.jsonl", [{"q": 1}])
    (tmp_path / "train.csv").write_text("q\n1\n")
    with pytest.raises(DataError, match=r"several files for the split 'train': train\.csv, train\.jsonl") as caught:
        LocalDataset(str(tmp_path)).splits()
    assert "data_files" in caught.value.fix
    assert list(LocalDataset(str(tmp_path), format="csv").read("train")) == [{"q": "1"}]


def test_a_folder_without_such_files(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    write_jsonl("questions.jsonl", [{"q": 1}])
    with pytest.raises(DataError, match=r"it has questions\.jsonl") as caught:
        LocalDataset(str(tmp_path)).splits()
    assert "data_files" in caught.value.fix


def test_data_files_lie_in_the_folder(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    write_jsonl("d/a.jsonl", [{"q": 1}])
    elsewhere = write_jsonl("b.jsonl", [{"q": 2}])
    reader = LocalDataset(str(tmp_path / "d"), data_files={"main": ["a.jsonl", elsewhere], "few": "a.jsonl"})
    assert reader.splits() == ("main", "few")
    assert [row["q"] for row in reader.read("main")] == [1, 2]
    assert reader.read("main").origins == (str(tmp_path / "d" / "a.jsonl"), elsewhere)


def test_data_files_without_split_names(write_jsonl: WriteJsonl) -> None:
    first, second = write_jsonl("a.jsonl", [{"q": 1}]), write_jsonl("b.jsonl", [{"q": 2.5}])
    assert [row["q"] for row in LocalDataset(data_files=[first, second]).read("test")] == [1.0, 2.5]
    assert LocalDataset(data_files=first).splits() == ("test",)


def test_files_with_different_columns(write_jsonl: WriteJsonl, caplog: pytest.LogCaptureFixture) -> None:
    first, second = write_jsonl("a.jsonl", [{"q": 1, "a": 1}]), write_jsonl("b.jsonl", [{"x": 1, "q": 2}])
    with caplog.at_level(logging.WARNING):
        rows = list(LocalDataset(data_files=[first, second]).read("test"))
    assert rows == [{"q": 1, "a": 1, "x": None}, {"q": 2, "a": None, "x": 1}]
    assert "['a', 'x'] are not in all files" in caplog.text


def test_files_with_other_kinds_of_values(write_jsonl: WriteJsonl) -> None:
    first, second = write_jsonl("a.jsonl", [{"q": 1}]), write_jsonl("b.jsonl", [{"q": "x"}])
    assert list(LocalDataset(data_files=[first, second]).read("test")) == [{"q": 1}, {"q": "x"}]


def test_rows_of_a_table_in_many_chunks(tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": range(2500)}), tmp_path / "a.parquet", row_group_size=700)
    table = LocalDataset(str(tmp_path / "a.parquet")).read("a")
    assert len(table) == 2500
    assert [row["q"] for row in table] == list(range(2500))
    assert [table.row(number)["q"] for number in (0, 699, 700, 1399, 1400, 2499)] == [0, 699, 700, 1399, 1400, 2499]
    for number in (-1, 2500):
        with pytest.raises(IndexError):
            table.row(number)


def test_a_path_that_is_not_there(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("gsm8k/test.jsonl", [{"q": 1}])
    with pytest.raises(DataError, match="no such file or folder") as caught:
        LocalDataset(str(tmp_path / "gsm8")).splits()
    assert caught.value.fix == "did you mean 'gsm8k'?"
    with pytest.raises(DataError, match="no such file or folder") as caught:
        LocalDataset(str(Path(path).parent), data_files={"test": "tset.jsonl"}).read("test")
    assert caught.value.fix == "did you mean 'test.jsonl'?"


def test_nothing_to_read() -> None:
    with pytest.raises(ConfigError, match="needs path or data_files"):
        LocalDataset()
    with pytest.raises(DataError, match="no file for the split 'test'"):
        LocalDataset(data_files={"test": []}).splits()
