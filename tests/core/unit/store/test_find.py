from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.store import RunFolder, create_run_folder, find_run_folder, locate_run

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_finding_an_earlier_run(tmp_path: Path) -> None:
    create_run_folder(tmp_path, "eval", NOON.replace(year=2025))
    for _ in range(11):
        newest = create_run_folder(tmp_path, "eval", NOON)
    (tmp_path / "eval" / "notes").mkdir()
    (tmp_path / "eval" / "20991231_000000").write_text("a file is no run")
    assert newest.root.name == "20260131_120000Z_11"
    assert find_run_folder(tmp_path, "eval") == newest
    assert find_run_folder(tmp_path, "eval", "20250131_120000Z").root == tmp_path / "eval" / "20250131_120000Z"


def test_an_earlier_run_by_its_path(tmp_path: Path) -> None:
    folder = create_run_folder(tmp_path, "eval", NOON)
    with pytest.raises(ConfigError, match=r"no config\.py"):
        find_run_folder(tmp_path, "other", str(folder.root))
    folder.config_file.write_text("")
    assert find_run_folder(tmp_path / "elsewhere", "other", str(folder.root)) == folder
    with pytest.raises(ConfigError, match="no such run folder"):
        find_run_folder(tmp_path, "eval", str(tmp_path / "none"))


def test_there_is_no_such_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no earlier run") as caught:
        find_run_folder(tmp_path / "none", "eval")
    assert caught.value.fix == "start one without -r"
    for _ in range(7):
        create_run_folder(tmp_path, "eval", NOON)
    with pytest.raises(ConfigError, match="no run '2020'") as caught:
        find_run_folder(tmp_path, "eval", "2020")
    assert caught.value.fix.startswith("runs, the newest first: 20260131_120000Z_7, 20260131_120000Z_6")
    assert caught.value.fix.endswith("_3, …")
    with pytest.raises(ConfigError) as caught:
        find_run_folder(tmp_path, "evall")
    assert "there are runs of: eval" in caught.value.fix


def made(work_dir: Path, name: str, now: datetime = NOON) -> RunFolder:
    folder = create_run_folder(work_dir, name, now)
    folder.config_file.write_text("")
    return folder


def test_a_run_as_people_name_it(tmp_path: Path) -> None:
    old, new = made(tmp_path, "eval", NOON.replace(year=2025)), made(tmp_path, "eval")
    other = made(tmp_path, "other")
    elsewhere = tmp_path / "elsewhere"
    assert locate_run(elsewhere, str(old.root)) == old
    assert locate_run(elsewhere, str(tmp_path / "eval")) == new
    assert locate_run(tmp_path, "eval/20250131_120000Z") == old
    assert locate_run(tmp_path, "other") == other
    assert locate_run(tmp_path, "20250131_120000Z") == old


def test_the_latest_run_of_all(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no run 'latest'"):
        locate_run(tmp_path, "latest")
    made(tmp_path, "zebra", NOON.replace(year=2025))
    newest = made(tmp_path, "eval")
    made(tmp_path, "other", NOON.replace(year=2024))
    assert locate_run(tmp_path, "latest") == newest


def test_a_run_that_cannot_be_meant(tmp_path: Path) -> None:
    made(tmp_path, "eval")
    made(tmp_path, "other")
    with pytest.raises(ConfigError, match="several runs") as caught:
        locate_run(tmp_path, "20260131_120000Z")
    assert caught.value.fix == "runs here: eval/20260131_120000Z, other/20260131_120000Z"
    with pytest.raises(ConfigError, match="there is no run 'evil'") as caught:
        locate_run(tmp_path, "evil")
    assert "eval/20260131_120000Z" in caught.value.fix
    with pytest.raises(ConfigError, match="there is no run 'eval'") as caught:
        locate_run(tmp_path / "none", "eval")
    assert caught.value.fix == "no runs are here: use -w DIR, or begin one: aisprompt run CONFIG"
    create_run_folder(tmp_path, "broken", NOON)
    with pytest.raises(ConfigError, match=r"no config\.py"):
        locate_run(tmp_path, "broken")
