"""The GitHub action, the GitLab template, the workflow and the Dockerfile: their steps run, their files exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hatchling.builders.wheel import WheelBuilder

from ais_prompt import __version__
from tests.core.e2e.project import Project
from tests.support.servers import ROOT

pytestmark = pytest.mark.process

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text("utf-8"))


def shell(project: Project, script: str, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step as both services do: bash, which stops at the first command that fails."""
    path = project.root / "bin"
    path.mkdir(exist_ok=True)
    program = path / "aisprompt"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ais_prompt "$@"\n')
    program.chmod(0o755)
    environment = {**project.variables(), **variables, "PATH": f"{path}:{os.environ['PATH']}"}
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True, timeout=120)


def github_steps(job: str, project: Project, **inputs: str) -> Iterator[subprocess.CompletedProcess[str]]:
    """Run the steps of a job of the action, without the installation; after a failure only those with ``always()``."""
    given = {name: inputs.get(name, str(one.get("default", ""))) for name, one in ACTION["inputs"].items()}
    failed = False
    for step in ACTION["runs"]["steps"][1:]:
        if f"'{job}'" in step["if"] and (not failed or "always()" in step["if"]):
            named = {key: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text) for key, text in step.get("env", {}).items()}
            variables = {key: given[match[1]] for key, match in named.items() if match}
            done = shell(project, step["run"], {**variables, "GITHUB_STEP_SUMMARY": str(project.root / "shown.md")})
            failed = failed or done.returncode != 0
            yield done


def test_no_input_of_the_action_becomes_part_of_a_script() -> None:
    assert not [step for step in ACTION["runs"]["steps"] if "${{" in step["run"]]


def test_the_action_installs_what_its_folder_holds() -> None:
    install = ACTION["runs"]["steps"][0]
    assert install["env"] == {"EXTRAS": "${{ inputs.extras }}", "SOURCE": "${{ github.action_path }}"}
    assert install["run"] == 'python -m pip install --constraint "$SOURCE/constraints.txt" "$SOURCE[$EXTRAS]"'


@pytest.mark.slow
def test_the_job_of_prompts_fails_once_a_prompt_changed(project: Project) -> None:
    assert project.run("lock", "eval.py").returncode == 0
    assert [done.returncode for done in github_steps("prompts", project, config="eval.py")] == [0]
    project.write_data([{"question": "What is 1+1?", "answer": "2"}])
    [done] = github_steps("prompts", project, config="eval.py")
    assert done.returncode == 1, done.stdout + done.stderr


@pytest.mark.slow
def test_the_job_of_answers_gates_and_shows_the_scores_also_when_a_gate_fails(project: Project) -> None:
    assert project.run("lock", "eval.py").returncode == 0
    options = "--gate 'failed <= 0' --num-prompts 3"
    run, shown = github_steps("answers", project, config="eval.py", options=options)
    assert run.returncode == shown.returncode == 0, run.stdout + run.stderr
    assert "failed &lt;= 0" in (project.root / "shown.md").read_text()
    assert (project.root / "junit.xml").is_file()
    run, shown = github_steps("answers", project, config="eval.py", options="--gate 'accuracy >= 100%; $(touch made)'")
    assert run.returncode != 0
    assert shown.returncode == 0
    assert not (project.root / "made").exists()


@pytest.mark.slow
def test_the_jobs_of_gitlab(project: Project) -> None:
    variables = {name: str(value) for name, value in GITLAB["variables"].items()}
    assert project.run("lock", "eval.py").returncode == 0
    for job in (".aisprompt-prompts", ".aisprompt-answers"):
        for line in GITLAB[job]["script"]:
            done = shell(project, line, variables)
            assert done.returncode == 0, done.stdout + done.stderr
        made = GITLAB[job].get("artifacts", {"paths": [], "reports": {}})
        assert all((project.root / path).exists() for path in [*made["paths"], *made["reports"].values()])


def test_the_workflow_calls_targets_of_the_makefile() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    called = {match[1] for step in steps if (match := re.fullmatch(r"make ([\w-]+)", step["run"]))}
    wanted = set(re.findall(r"^make ([\w-]+)$", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE))
    assert called - {"quick"} == wanted - {"quick-newest"}  # the jobs of the workflow have every version


def test_pytest_has_the_options_of_the_makefile() -> None:
    calls = " ".join(re.findall(r"-m pytest (.+(?:\\\n.+)*)", (ROOT / "Makefile").read_text("utf-8")))
    wanted = set(re.findall(r"(?<!\S)--[\w-]+", calls))
    assert "--cov" in wanted
    known = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert wanted <= set(re.findall(r"--[\w-]+", known.stdout))


def test_the_image_is_built_from_all_that_the_wheel_needs(tmp_path: Path) -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    assert sources == allowed
    for source in sources:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / "in" / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (tmp_path / "in").mkdir(exist_ok=True)
            shutil.copy(ROOT / source, tmp_path / "in" / source)
    [wheel] = WheelBuilder(str(tmp_path / "in")).build(directory=str(tmp_path / "out"), versions=["standard"])
    assert Path(wheel).stat().st_size <= 3_000_000


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
