"""Releases of LiveCodeBench are read from its files, without the script that lies next to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ais_prompt.extensions.peers.code.importing import DataAbsent, load_release
from tests.support.lazy import Lazy

datasets = Lazy("datasets")

DATE = "2024-01-01T00:00:00"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    data = tmp_path / "data"
    data.mkdir()
    for number in range(1, 4):
        name = f"test{number}.jsonl" if number > 1 else "test.jsonl"
        (data / name).write_text(json.dumps({"question": f"q{number}", "date": DATE}) + "\n", encoding="utf-8")
    return data


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("tag", "files"),
    [("release_v1", "1"), ("release_v2", "12"), ("v2", "2"), ("v2_v3", "23"), ("release_latest", "123")],
)
def test_a_release_is_made_of_files(tag: str, files: str, folder: Path) -> None:
    rows = load_release(str(folder), split="test", version_tag=tag, trust_remote_code=True)
    assert list(rows) == [{"question": f"q{number}", "date": DATE} for number in files]


@pytest.mark.parametrize(("tag", "says"), [("release_v4", "test4.jsonl"), ("release_split_v4", "no release")])
def test_an_absent_release_is_named(tag: str, says: str, folder: Path) -> None:
    with pytest.raises(DataAbsent, match=says):
        load_release(str(folder), split="test", version_tag=tag)


def test_without_a_release_the_library_loads(folder: Path) -> None:
    assert len(load_release("json", data_files=str(folder / "test.jsonl"), split="train")) == 1
