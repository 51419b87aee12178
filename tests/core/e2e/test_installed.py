"""The wheel in an empty environment: shipped configs run without torch, and errors name what to install."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.support.markdown import commands, is_printed, runnable, write_file
from tests.support.servers import ROOT

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Installed:
    """The program in an environment that has nothing else.

    Attributes:
        folder: holds ``venv``, the wheel, and ``work``, where the program runs.
    """

    folder: Path

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run ``aisprompt ARGS`` without the variables of the tests."""
        binaries = self.folder / "venv" / "bin"
        environment = {"PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(self.folder), "COLUMNS": "80"}
        command = [binaries / "aisprompt", *args]
        work = self.folder / "work"
        return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    venv.create(folder / "venv", with_pip=True)
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet", wheel]
    subprocess.run(pip, check=True, timeout=600)
    (folder / "work").mkdir()
    return Installed(folder)


def test_nothing_heavy_is_installed(installed: Installed) -> None:
    site = next((installed.folder / "venv" / "lib").glob("python*/site-packages"))
    there = {path.name for path in site.iterdir()}
    assert not there & {"torch", "pandas", "datasets", "scipy", "sklearn"}


@pytest.mark.parametrize("config", ["examples/images", "examples/dialogues_in_labels"])
def test_a_shipped_config_with_the_scripted_model_runs(installed: Installed, config: str) -> None:
    assert installed.run("check", config).returncode == 0
    done = installed.run("run", config)
    assert done.returncode == 0, done.stderr
    [summary] = (installed.folder / "work").glob(f"outputs/{Path(config).name}/*/summary/summary.json")
    assert all(row["failed"] == 0 and row["n"] > 0 for row in json.loads(summary.read_text()))


def test_the_tutorial_from_the_first_line_to_the_last(installed: Installed) -> None:
    work = installed.folder / "work"
    for line, language, title, code in runnable((ROOT / "docs/tutorial.md").read_text("utf-8")):
        named = re.match(r"# (\w+\.py)\n", code)
        if title or named:
            write_file(title or named[1], code, work)  # type: ignore[index]
            continue
        assert language == "console"
        for command, expected in commands(code):
            done = installed.run(*shlex.split(command))
            assert is_printed(done.stdout, expected), f"line {line}: {command}\n{done.stdout}{done.stderr}"


def test_prompts_for_a_local_model_are_shown_without_torch(installed: Installed) -> None:
    shown = installed.run("view-prompt", "eval")
    assert shown.returncode == 0, shown.stderr


def test_a_local_model_names_the_command_that_brings_torch(installed: Installed) -> None:
    done = installed.run("run", "eval")
    assert done.returncode == 3
    assert "needs the package 'torch'" in done.stderr
    wheel = next(installed.folder.glob("*.whl"))
    assert f"fix:   pip install '{wheel}[local]'" in done.stderr
