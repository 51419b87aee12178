from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.store import RunFolder, create_run_folder, safe_name

few = settings(max_examples=60)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TEXTS = st.text(st.characters(exclude_categories=[]), min_size=1)


def test_the_files_of_a_run() -> None:
    folder = RunFolder(Path("run"))
    assert folder.journal("org/model:8b", "gsm8k") == Path("run/journal/org%2Fmodel%3A8b/gsm8k.jsonl")
    assert folder.predictions("m", "d") == Path("run/predictions/m/d.jsonl")
    assert folder.results("m", "d") == Path("run/results/m/d.json")
    assert (folder.config_file, folder.run_file) == (Path("run/config.py"), Path("run/run.json"))
    assert (folder.summary_dir, folder.report) == (Path("run/summary"), Path("run/report.html"))
    assert (folder.logs, folder.writer_lock_file) == (Path("run/logs"), Path("run/.lock"))


def test_loads_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ["02-concurrency=4-run2", "02-concurrency=4-run10", "99-concurrency=5", "100-concurrency=6"]
    for name in reversed(names):
        (tmp_path / "loads" / name).mkdir(parents=True)
    assert [one.root.name for one in RunFolder(tmp_path).load_folders()] == names


@pytest.mark.parametrize(
    ("abbr", "name"),
    [
        ("Qwen2.5-7B_chat", "Qwen2.5-7B_chat"),
        ("通义千问", "通义千问"),
        ("a/b c", "a%2Fb%20c"),
        ("..", "%2E."),
        (".hidden", "%2Ehidden"),
        ("50%", "50%25"),
    ],
)
def test_names_stay_readable(abbr: str, name: str) -> None:
    assert safe_name(abbr) == name


@few
@given(TEXTS)
def test_a_name_is_one_that_a_file_can_have(abbr: str) -> None:
    name = safe_name(abbr)
    assert 0 < len(name.encode()) <= 200
    assert not set("/\\\0\n") & set(name)
    assert not name.startswith(".")


@few
@given(TEXTS, TEXTS)
def test_two_abbrs_never_share_a_name(one: str, other: str) -> None:
    assert (safe_name(one) == safe_name(other)) == (one == other)
    assert (safe_name(one * 200) == safe_name(other * 200)) == (one * 200 == other * 200)


def test_a_run_folder_is_named_by_its_start(tmp_path: Path) -> None:
    roots = [create_run_folder(tmp_path / "outputs", "my eval", NOON).root for _ in range(3)]
    assert [root.relative_to(tmp_path).as_posix() for root in roots] == [
        "outputs/my%20eval/20260131_120000Z",
        "outputs/my%20eval/20260131_120000Z_2",
        "outputs/my%20eval/20260131_120000Z_3",
    ]
    assert all(root.is_dir() for root in roots)


def test_a_work_dir_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot make a run folder") as caught:
        create_run_folder(tmp_path / "file", "eval")
    assert "-w" in caught.value.fix
