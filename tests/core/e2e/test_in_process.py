"""The command line in the test process does what it does in a process of its own, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from ais_prompt.registry import POSTPROCESSORS
from tests.core.e2e.project import DATASET, MODEL, Project
from tests.support.cli import run_cli

OWN = """
from ais_prompt.registry import POSTPROCESSORS

@POSTPROCESSORS.register_module()
def mine(text):
    return {answer!r}
"""


def without_times(text: str) -> str:
    """A text without numbers, such as speeds, and without the blanks that align them."""
    return re.sub(r"[ ─━]+", " ", re.sub(r"<?\d[\d_.]*(?:Z(?:_\d+)?)?( (ms|s|min)\b)?", "0", text))


@pytest.mark.process
@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("check", "no_such.py"),
        ("run", "eval.py", "--no-such-option"),
        ("view-prompt", "eval.py", "--json"),
        ("run", "broken.py"),
    ],
    ids=" ".join,
)
def test_exit_code_and_output_are_those_of_a_process(project: Project, args: tuple[str, ...]) -> None:
    (project.root / "broken.py").write_text(
        f"models = [{MODEL}]\ndatasets = [{DATASET.replace('GenInferencer', 'GenInferencr')}]\n"
    )
    inside = project.run(*args)
    outside = project.run_process(*args)
    assert (inside.returncode, inside.stdout, inside.stderr) == (outside.returncode, outside.stdout, outside.stderr)


@pytest.mark.process
def test_a_run_prints_what_it_prints_in_a_process(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0  # both runs can be compared with it
    inside, outside = project.run("run", "eval.py"), project.run_process("run", "eval.py")
    assert inside.returncode == outside.returncode == 0
    assert without_times(inside.stdout) == without_times(outside.stdout)
    assert without_times(inside.stderr) == without_times(outside.stderr)


@pytest.mark.process
def test_modules_beside_a_config_are_forgotten(tmp_path: Path) -> None:
    data = DATASET.replace("'gsm8k_postprocess'", "'mine'")
    for answer in ("4", "6"):
        folder = tmp_path / answer
        folder.mkdir()
        project = Project(folder)
        project.write_data()
        project.write_config(datasets=data, more="custom_imports = dict(imports=['my_own_parts'])")
        (folder / "my_own_parts.py").write_text(OWN.format(answer=answer))
        done = project.run("run", "eval.py")
        assert done.returncode == 0, done.stderr
        [right] = (number for number, row in enumerate(project.predictions()) if row["gold"] == answer)
        assert project.summary()[0]["score"] == 1 / 8, right
        assert "my_own_parts" not in sys.modules
        assert "mine" not in POSTPROCESSORS.module_dict
        assert str(folder) not in sys.path


def test_the_process_is_as_it_was(tmp_path: Path) -> None:
    before = (Path.cwd(), dict(os.environ), sys.argv, sys.stdout, sys.stderr, sys.stdin, list(sys.path))
    done = run_cli("list", "models", folder=tmp_path, environment={"HOME": None, "COLUMNS": "60"})
    assert done.returncode == 0
    assert before == (Path.cwd(), dict(os.environ), sys.argv, sys.stdout, sys.stderr, sys.stdin, list(sys.path))
