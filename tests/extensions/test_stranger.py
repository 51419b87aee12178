"""The package in ``tests/stranger``, installed beside the program, brings a part, a verb, a log and a tracker."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.core.e2e.project import DATASET, Project
from tests.support.cli import ROOT

pytestmark = pytest.mark.slow

"""Whether formats of logs are not yet something that the core knows."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the packages of this one and the stranger's."""
    folder = tmp_path_factory.mktemp("stranger")
    venv.create(folder / "venv")
    [site] = (folder / "venv/lib").glob("python*/site-packages")
    (site / "here.pth").write_text("\n".join([str(ROOT), *(path for path in sys.path if path.endswith("-packages"))]))
    shutil.copytree(ROOT / "tests/stranger", folder / "source")
    found = folder / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(found), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", str(folder / "source")], check=True)
    return found


def run(python: Path, project: Project, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [python, "-m", "ais_prompt", *args],
        cwd=project.root,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(project: Project) -> Project:
    project.write_config(datasets=DATASET.replace("gsm8k_postprocess", "last_word"))
    return project


def test_a_verb(python: Path, project: Project) -> None:
    assert "count-words  Count the words of a file." in run(python, project, "--help").stdout
    assert run(python, project, "count-words", "data/sums.jsonl").stdout == "32\n"
    assert "Count the words of FILE." in run(python, project, "count-words", "--help").stdout
    assert "count-words (command)" in run(python, project, "describe", "count-words").stdout


def test_a_part_and_the_end_of_a_run(python: Path, project: Project) -> None:
    tracked = project.root / "tracked.jsonl"
    done = run(python, project, "run", "eval.py", WORDS_TRACKER=str(tracked))
    assert done.returncode == 0, done.stderr
    assert json.loads(tracked.read_text()) == {"run": project.folder().name, "dataset": "sums", "score": 0.25}
    listed = run(python, project, "list", "postprocessors").stdout
    assert "stranger_words.parts" in listed
    assert "Return the last word of an answer." in run(python, project, "describe", "last_word").stdout


def test_a_tracker_that_fails_ends_no_run(python: Path, project: Project) -> None:
    done = run(python, project, "run", "eval.py")
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "tracker" in line] == [
        "WARNING: stranger_words.tracker:finished, which an extension calls at the step 'finished', raises "
        "RuntimeError: no tracker is set"
    ]


def test_a_format_of_logs(python: Path, project: Project) -> None:
    answers = [("1+1?", "2", "2", True), ("2+2?", "5", "4", False)]
    rows = [dict(zip(("question", "answer", "gold", "right"), one, strict=True)) for one in answers]
    (project.root / "sums.words").write_text(json.dumps(rows))
    done = run(python, project, "import", "sums.words")
    assert done.returncode == 0, done.stderr
    assert "50.0" in run(python, project, "compare", "sums.words", "sums.words").stdout
