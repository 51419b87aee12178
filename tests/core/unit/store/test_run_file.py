"""Which run is the latest: by what ``run.json`` says, whatever the clock and the time zone did."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import Interrupted, StoreError
from ais_prompt.store import (
    SCHEMA_VERSION,
    RunFolder,
    RunRecord,
    create_run_folder,
    find_run_folder,
    in_order,
    read_run_file,
    recorded,
)

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def former(parent: Path, name: str, started: str) -> Path:
    """A run of version 1, which is named by local time."""
    root = parent / name
    root.mkdir(parents=True)
    (root / "config.py").write_text("")
    (root / "run.json").write_text(json.dumps({"status": "finished", "sessions": [{"started": started}]}))
    return root


def test_runs_of_version_1_are_ordered_by_their_start(tmp_path: Path) -> None:
    in_tokyo = former(tmp_path / "eval", "20260131_210000", "2026-01-31T21:00:00+09:00")
    in_london = former(tmp_path / "eval", "20260131_130000", "2026-01-31T13:00:00+00:00")
    assert in_order([in_london, in_tokyo]) == [in_tokyo, in_london]
    assert find_run_folder(tmp_path, "eval").root == in_london


@given(offsets=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6))
def test_the_latest_run_is_the_one_that_was_started_last(
    offsets: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    # However the clock is set before each start: names and times are out of order then.
    work_dir = tmp_path_factory.mktemp("runs")
    roots = []
    for offset in offsets:
        folder = create_run_folder(work_dir, "eval", NOON + timedelta(seconds=offset))
        RunRecord(folder, "models = []\n", "aisprompt run").begin()
        roots.append(folder.root)
        assert find_run_folder(work_dir, "eval") == folder
    assert in_order(sorted(roots)) == roots


def test_a_session_leaves_the_number_of_its_run(tmp_path: Path) -> None:
    folders = [create_run_folder(tmp_path, "eval", NOON - timedelta(days=day)) for day in range(2)]
    for folder in (*folders, folders[0]):
        RunRecord(folder, "", "").begin()
    assert [read_run_file(folder)["run_number"] for folder in folders] == [1, 2]
    assert len(read_run_file(folders[0])["sessions"]) == 2
    assert find_run_folder(tmp_path, "eval") == folders[1]


def test_a_run_goes_on_after_those_of_version_1(tmp_path: Path) -> None:
    former(tmp_path / "eval", "20991231_000000", "2099-12-31T00:00:00+00:00")
    folder = create_run_folder(tmp_path, "eval", NOON)
    RunRecord(folder, "", "").begin()
    assert find_run_folder(tmp_path, "eval") == folder


def test_a_broken_record_is_seen_and_not_passed_over(tmp_path: Path) -> None:
    broken = former(tmp_path / "eval", "20250131_120000", "2025-01-31T12:00:00+00:00")
    former(tmp_path / "eval", "20260131_120000", "2026-01-31T12:00:00+00:00")
    (broken / "run.json").write_text("{broken")
    assert find_run_folder(tmp_path, "eval").root == broken
    with pytest.raises(StoreError, match="not JSON"):
        RunRecord(RunFolder(broken), "", "").begin()


def test_a_record_of_a_later_version_is_refused(tmp_path: Path) -> None:
    root = former(tmp_path, "20260131_120000Z", "")
    (root / "run.json").write_text(json.dumps({"schema_version": SCHEMA_VERSION + 1}))
    with pytest.raises(StoreError, match="a later version of ais-prompt wrote this run"):
        RunRecord(RunFolder(root), "", "").begin()


def test_an_earlier_address_is_known(tmp_path: Path) -> None:
    root = former(tmp_path, "20260131_120000", "2026-01-31T12:00:00+00:00")
    task = {"model": {"type": "OpenAIChatModel", "base_url": "http://one/v1"}}
    record = json.loads((root / "run.json").read_text())
    (root / "run.json").write_text(json.dumps({**record, "tasks": {"served/sums": task, "fake/sums": {"model": {}}}}))
    second = RunRecord(RunFolder(root), "", "", {"served": "http://two/v1", "new": "http://three/v1"}).begin()
    assert second.moved == {"served": "http://one/v1"}
    third = RunRecord(RunFolder(root), "", "", {"served": "http://two/v1"}).begin()
    assert third.moved == {}
    assert third.addresses == ["http://one/v1", "http://two/v1", "http://three/v1"]


def test_an_interrupted_shard_names_the_run_that_goes_on(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "eval" / "nightly")
    own = RunFolder(run.shards / "20260131_120000Z_0-of-2_here_1")
    own.root.mkdir(parents=True)
    own.shard_file.write_text("{}", "utf-8")
    for folder in (run, own):
        with pytest.raises(Interrupted) as stopped, recorded(RunRecord(folder, "", ""), folder):
            raise KeyboardInterrupt
        assert (
            stopped.value.fix
            == f"resume with the same command and -r nightly; scores so far: aisprompt score {run.root}"
        )
