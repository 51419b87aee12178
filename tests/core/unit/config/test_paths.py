"""Where relative paths of data and models are looked up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ais_prompt.config import expand, replace_paths, resolve_data_path, shipped_root

Write = Callable[[str, str], Path]


def test_the_working_directory_comes_first_then_the_config_then_the_shipped_data(write: Write, folder: Path) -> None:
    write("run/data/demo/x.jsonl", "")
    assert resolve_data_path("data/demo/x.jsonl", folder / "run") == folder / "run/data/demo/x.jsonl"
    write("data/demo/x.jsonl", "")
    assert resolve_data_path("data/demo/x.jsonl", folder / "run") == folder / "data/demo/x.jsonl"
    shipped = next(path for path in shipped_root().rglob("test.jsonl")).relative_to(shipped_root())
    assert resolve_data_path(str(shipped), None) == shipped_root() / shipped


def test_a_sheet_is_found_as_its_workbook_is(write: Write, folder: Path) -> None:
    write("run/a.xlsx", "")
    assert resolve_data_path("a.xlsx#Sheet 1", folder / "run") == folder / "run/a.xlsx#Sheet 1"
    assert resolve_data_path("b.xlsx#Sheet 1", folder / "run") is None
    assert resolve_data_path("a.xlsx#", folder / "run") is None


@pytest.mark.parametrize("path", ["", "hub/name", "x\0y", "z" * 5000])
def test_what_is_no_file_stays_a_name(folder: Path, path: str) -> None:
    assert resolve_data_path(path, folder) is None


def test_home(monkeypatch: pytest.MonkeyPatch, write: Write, folder: Path) -> None:
    monkeypatch.setenv("HOME", str(folder))
    write("model/config.json", "")
    assert resolve_data_path("~/model", None) == folder / "model"
    assert expand("~nobody-of-this-name/x") == Path("~nobody-of-this-name/x")


def test_only_the_arguments_that_are_paths_are_replaced(folder: Path) -> None:
    args = {"path": "p", "tokenizer_path": "t", "name": "p", "path_of_mine": "p", "split": 3}
    found = replace_paths(args, lambda path: folder / path)
    assert found == {**args, "path": str(folder / "p"), "tokenizer_path": str(folder / "t")}


def test_data_files_in_every_form(folder: Path) -> None:
    def find(path: str) -> Path | None:
        return folder / path if path == "here" else None

    assert replace_paths({"data_files": "here"}, find)["data_files"] == str(folder / "here")
    assert replace_paths({"data_files": ["here", "away"]}, find)["data_files"] == [str(folder / "here"), "away"]
    assert replace_paths({"data_files": {"test": ("here",)}}, find)["data_files"] == {"test": (str(folder / "here"),)}
    assert replace_paths({"data_files": 3}, find)["data_files"] == 3


def test_data_files_belong_to_a_path_that_is_a_folder(write: Write, folder: Path) -> None:
    write("data/test.jsonl", "")
    write("test.jsonl", "")
    args = replace_paths({"path": "data", "data_files": {"test": "test.jsonl"}}, lambda p: resolve_data_path(p, None))
    assert args == {"path": str(folder / "data"), "data_files": {"test": "test.jsonl"}}
