"""Links that lead out of a run folder are refused, and only those."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.errors import StoreError
from ais_prompt.store import RunFolder, refuse_links


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    (tmp_path / "elsewhere").mkdir()
    for part in ("logs", "shards/0"):
        (tmp_path / "run" / part).mkdir(parents=True)
    return RunFolder(tmp_path / "run")


@pytest.mark.parametrize("target", ["run.log", "../logs/run.log", "..", "missing"])
def test_a_link_within_the_folder_is_no_fault(folder: RunFolder, target: str) -> None:
    (folder.root / "logs" / "link").symlink_to(target)
    refuse_links(folder)


def test_the_folder_may_be_a_link_itself(folder: RunFolder, tmp_path: Path) -> None:
    (folder.root / "logs" / "link").symlink_to("run.log")
    (tmp_path / "named").symlink_to(folder.root)
    refuse_links(RunFolder(tmp_path / "named"))


@pytest.mark.parametrize("target", ["../../elsewhere", "../../missing", "../../run-2", "../shards/0/out", "/"])
def test_a_link_out_of_the_folder_is_named(folder: RunFolder, target: str) -> None:
    (folder.root / "shards" / "0" / "out").symlink_to("../../../elsewhere")
    (folder.root / "logs" / "link").symlink_to(target)
    with pytest.raises(StoreError, match="leads out of it") as refused:
        refuse_links(folder)
    assert refused.value.where == str(folder.root / "logs" / "link")
