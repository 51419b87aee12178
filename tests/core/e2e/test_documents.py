"""The commands and configs of the documents do what the documents say, as they are printed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.e2e.project import COMMAND, Project
from tests.support.markdown import blocks
from tests.support.servers import MockServer

pytestmark = [pytest.mark.process, pytest.mark.torch]


ROOT = Path(__file__).parents[3]


def indented_blocks(text: str) -> Iterator[str]:
    for found in re.finditer(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE):
        yield re.sub(r"^    ", "", found[0], flags=re.MULTILINE).strip("\n")


def commands(page: str) -> list[list[str]]:
    """The commands of a page, in order, without what they are piped to; a backslash continues a line."""
    found = indented_blocks((ROOT / page).read_text("utf-8"))
    lines = [line.partition(" | ")[0] for block in found for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if re.match(r"(aisprompt|git) ", line)]


@pytest.fixture
def readme_config(project: Project) -> Path:
    config, _ = blocks((ROOT / "README.md").read_text("utf-8"), "python")
    path = project.root / "my_eval.py"
    path.write_text(config, "utf-8")
    return path


def test_the_config_of_the_readme_works_in_any_folder(
    project: Project, readme_config: Path, server: MockServer
) -> None:
    project.environment["MY_API_KEY"] = "sk-of-this-test"
    checked = project.run("check", readme_config.name)
    assert checked.returncode == 0, checked.stderr
    shown = project.run("view-prompt", readme_config.name)
    assert "As sent: messages" in shown.stdout
    url = f"models.0.base_url={server.base_url}"
    done = project.run("run", readme_config.name, "--set", url, "--num-prompts", "3", "--max-failures", "3")
    assert done.returncode == 0, done.stderr
    assert "demo-chat-sums" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="the recipe uses git")
def test_the_recipe_for_ci_passes_with_the_shipped_model(project: Project) -> None:
    pytest.importorskip("torch")
    (project.root / "eval.py").unlink()  # the one of the package is meant
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    found = commands("docs/ci.md")
    assert [command[1] for command in found] == ["lock", "run", "baseline", "add", "check", "lock", "run", "run"]
    for command in found:
        argv = command if command[0] == "git" else [*COMMAND, *command[1:]]
        done = subprocess.run(
            argv, cwd=project.root, env=project.variables(), capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    assert (project.root / "junit.xml").exists()
    assert (project.root / "summary.md").exists()
