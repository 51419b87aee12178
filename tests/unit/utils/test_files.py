from __future__ import annotations

import json
from pathlib import Path

import pytest

from ais_prompt.errors import StoreError
from ais_prompt.utils.files import write_text_atomic


def test_folders_are_made_and_files_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    write_text_atomic(path, "one\r\n")
    write_text_atomic(path, "二\n")
    assert path.read_bytes() == "二\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_lone_surrogates_survive_in_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_text_atomic(path, json.dumps("\ud800", ensure_ascii=False))
    assert json.loads(path.read_text(encoding="utf-8")) == "\ud800"


def test_a_failure_names_the_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(StoreError, match=r"a\.txt"):
        write_text_atomic(tmp_path / "a.txt", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
