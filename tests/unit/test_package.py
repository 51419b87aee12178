"""What a release holds: the wheel the program with its configs, the archive of sources all that is committed but CI."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
MADE = {"PKG-INFO", ".gitignore"}
"""Files that hatchling adds to every sdist."""
NOT_SOURCES = (".", "ci/", "action.yml", "Dockerfile")
"""What an archive of sources leaves out: how this repository is tested and shipped."""


@pytest.fixture(scope="module")
def committed() -> set[str]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("what is committed can be seen in a clone only")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return {file for file in files if file and (ROOT / file).exists()}


def test_the_sdist(tmp_path: Path, committed: set[str]) -> None:
    [path] = SdistBuilder(str(ROOT)).build(directory=str(tmp_path))
    with tarfile.open(path) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert files - MADE == {file for file in committed if not file.startswith(NOT_SOURCES)}


def test_the_wheel(tmp_path: Path, committed: set[str]) -> None:
    [path] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(path) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {file for file in committed if file.startswith("ais_prompt/")}
    assert files == wanted | {f"ais_prompt/{file}" for file in committed if file.startswith("configs/")}
