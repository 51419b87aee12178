"""What a release holds: the wheel the program with its configs, the archive of sources all that is committed but CI."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
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


@pytest.mark.parametrize(
    ("remote", "home"),
    [
        ("https://example.org/team/ais_prompt.git", "https://example.org/team/ais_prompt"),
        ("https://user:token@example.org/team/ais_prompt", "https://example.org/team/ais_prompt"),
        ("git@example.org:team/ais_prompt.git", "https://example.org/team/ais_prompt"),
        ("ssh://git@example.org:22/team/ais_prompt.git", "https://example.org/team/ais_prompt"),
        ("../ais_prompt", ""),
        ("/srv/ais_prompt.git", ""),
        ("file:///srv/ais_prompt.git", ""),
        ("", ""),
    ],
)
def test_the_package_names_the_repository_that_it_is_built_from(tmp_path: Path, remote: str, home: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    for name in ("ais_prompt/__init__.py", "configs/eval.py"):
        (project / name).parent.mkdir()
        shutil.copy(ROOT / name, project / name)
    subprocess.run(["git", "init", "-q", project], check=True)
    if remote:
        subprocess.run(["git", "-C", project, "remote", "add", "origin", remote], check=True)
    wanted = ["Homepage", "Documentation", "Changelog", "Issues"] if home else []
    [sources] = SdistBuilder(str(project)).build(directory=str(tmp_path))
    shutil.unpack_archive(sources, tmp_path / "unpacked", filter="data")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    for folder in (project, unpacked):
        [wheel] = WheelBuilder(str(folder)).build(directory=str(tmp_path / "out"), versions=["standard"])
        with zipfile.ZipFile(wheel) as archive:
            [metadata] = [name for name in archive.namelist() if name.endswith("METADATA")]
            urls = message_from_bytes(archive.read(metadata)).get_all("Project-URL", [])
        assert [url.partition(", ")[0] for url in urls] == wanted
        assert all(url.partition(", ")[2].startswith(home) for url in urls)


def test_the_wheel(tmp_path: Path, committed: set[str]) -> None:
    [path] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(path) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {file for file in committed if file.startswith("ais_prompt/")}
    assert files == wanted | {f"ais_prompt/{file}" for file in committed if file.startswith("configs/")}


def test_the_makefile_names_folders_of_tests_that_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [(start, names)] = re.findall(r"\$\(addprefix (tests/\S+),(.+)\)", makefile)
    named = re.findall(r"(?<!\S)tests/[\w/.]+", makefile.replace(start, "")) + [start + name for name in names.split()]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_versions_of_python_that_are_tried_are_those_that_are_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    lowest, *others = named
    assert project["requires-python"] == f">={lowest}"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"\nPYTHONS := {' '.join(others)}\nNEWEST := {others[-1]}\n" in makefile
    for page in ("README.md", "README.zh.md", "docs/install.md", "docs/zh/install.md"):
        [said] = re.findall(r"Python ((?:3\.\d+(?:, | or |、| 或 )?)+)", (ROOT / page).read_text("utf-8"))
        assert re.findall(r"3\.\d+", said) == named, page
