"""A command that fails leaves the run folder as it was, and one that comes too early names the step before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.e2e.project import DATASET, Project

NOT_COMPARED = ("logs", ".lock", ".lock.holder")
"""What a failed command may write all the same: why it failed, and who held the lock."""
FAILING = {
    "too few answers": (2, ["score", "eval", "--set", "datasets.0.eval_cfg.k=[1,8]"]),
    "an unknown evaluator": (2, ["score", "eval", "--set", "datasets.0.eval_cfg.evaluator.type='AccEvaluatr'"]),
    "no answers to this dataset": (2, ["score", "eval", "--set", "datasets.0.abbr='other'"]),
    "a gate that is none": (2, ["score", "eval", "--gate", "sums: accurracy >="]),
    "no such baseline": (2, ["score", "eval", "--baseline", "missing.json"]),
    "no scores of this dataset": (2, ["run", "eval.py", "-r", "-m", "viz", "--set", "datasets.0.abbr='other'"]),
    "answers of another dataset": (2, ["run", "eval.py", "-r", "-m", "eval", "--set", "datasets.0.abbr='other'"]),
    "a column that is not there": (2, ["run", "eval.py", "-r", "--set", "datasets.0.reader_cfg.output_column='gold'"]),
    "a shard of another run": (2, ["merge", "eval", "data"]),
    "a model without batches": (2, ["answers", "eval", "data/sums.jsonl"]),
    "a config whose model takes no files": (2, ["requests", "eval.py"]),
    "another program": (2, ["export", "eval", "--to", "nothing"]),
}


def files(project: Project) -> dict[Path, bytes]:
    """The content of every file of every run, except what may always be written."""
    found = sorted((project.root / "outputs").rglob("*"))
    return {path: path.read_bytes() for path in found if path.is_file() and not {*path.parts} & {*NOT_COMPARED}}


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAILING)
def test_a_command_that_fails_leaves_the_run_as_it_was(project: Project, name: str) -> None:
    assert project.run("run", "eval.py").returncode == 0
    before = files(project)
    code, args = FAILING[name]
    done = project.run(*args)
    assert done.returncode == code, done.stdout + done.stderr
    assert files(project) == before


@pytest.mark.parametrize("args", [["score", "eval"], ["run", "eval.py", "-r", "-m", "eval"]])
def test_scoring_that_fails_for_every_task_leaves_the_scores_of_before(project: Project, args: list[str]) -> None:
    assert project.run("run", "eval.py").returncode == 0
    [path] = project.folder().glob("predictions/*/*")
    path.write_text("{broken\n")
    before = files(project)
    done = project.run(*args, "--set", "datasets.0.eval_cfg.evaluator.type='AccEvaluator'")
    assert done.returncode == 2
    assert f"{path.relative_to(project.root)}:1" in done.stderr
    assert "nothing was scored; the config and the scores of the run are as before" in done.stderr
    assert files(project) == before


def test_a_session_that_scores_some_tasks_keeps_its_config(project: Project) -> None:
    project.write_config(datasets=", ".join([DATASET, DATASET.replace("abbr='sums'", "abbr='more'")]))
    assert project.run("run", "eval.py").returncode == 0
    (project.folder() / "predictions/fake/more.jsonl").write_text("{broken\n")
    done = project.run("score", "eval", "--set", "datasets.0.eval_cfg.evaluator.type='AccEvaluator'")
    assert done.returncode == 2
    assert "AccEvaluator" in (project.folder() / "config.py").read_text()
    assert {row["dataset"]: row["score"] is None for row in project.summary()} == {"sums": False, "more": True}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "args",
    [["run", "eval.py", "-r", "-m", "viz"], ["baseline", "eval", "-o", "base.json"], ["compare", "eval", "eval"]],
)
def test_what_needs_scores_names_the_command_that_makes_them(project: Project, args: list[str]) -> None:
    several = [DATASET.replace("abbr='sums'", f"abbr='sums{number}'") for number in range(4)]
    project.write_config(datasets=", ".join(several))
    assert project.run("run", "eval.py", "-m", "infer").returncode == 0
    before = files(project)
    done = project.run(*args)
    assert done.returncode == 2, done.stdout
    run = project.folder().relative_to(project.root)
    assert f"fix:   make them: aisprompt score {run}\n" in done.stderr
    assert done.stderr.count("no scores yet") == 1
    assert done.stdout == ""
    assert files(project) == before


def test_scoring_before_asking_names_the_step_that_is_missing(project: Project) -> None:
    assert project.run("run", "eval.py", "-m", "infer").returncode == 0
    for path in project.folder().glob("predictions/*/*"):
        path.unlink()
    done = project.run("score", "eval")
    assert done.returncode == 2
    assert "ConfigError: the run has no answers yet" in done.stderr
    assert f"-r {project.folder().name}" in done.stderr
