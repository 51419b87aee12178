"""A finished run that is taken up again keeps the scores, the summary and the page that would be the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.core.e2e.project import DATASET, Project

FILES: Final = {"scores": "results/fake/sums.json", "summary": "summary/summary.json", "page": "report.html"}
OWN: Final = "from ais_prompt import AccEvaluator\n\nclass Own(AccEvaluator):\n    pass\n"


class Change(NamedTuple):
    """What changes between two sessions.

    Attributes:
        make: changes the run folder.
        options: of the second session.
        written: which of `FILES` are written again.
    """

    make: Callable[[Path], object] = lambda _: None
    options: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def edit(name: str, before: str, after: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        content = (folder / name).read_text()
        assert before in content
        (folder / name).write_text(content.replace(before, after))

    return make


PREDICTIONS: Final = "predictions/fake/sums.jsonl"
CHANGES: Final = {
    "nothing": Change(),
    "the evaluator": Change(
        options=("--set", "datasets.0.eval_cfg.evaluator.type='AccEvaluator'"), written=("scores", "page")
    ),
    "the evaluator, to what it was": Change(written=("scores", "page")),
    "a prediction": Change(edit(PREDICTIONS, "It is 6.", "It is 7."), written=("scores", "summary", "page")),
    "the prediction, to what it was": Change(
        edit(PREDICTIONS, "It is 7.", "It is 6."), written=("scores", "summary", "page")
    ),
    "the scores, by hand": Change(edit(FILES["scores"], "0.25", "0.75"), written=("scores",)),
    "no scores": Change(lambda folder: (folder / FILES["scores"]).unlink(), written=("scores",)),
    "no summary": Change(lambda folder: (folder / FILES["summary"]).unlink(), written=("summary",)),
}


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Return number and time of each file, which change when it is written again; none for a file that is not there."""
    found = {kind: folder / name for kind, name in FILES.items()}
    return {kind: (path.stat().st_ino, path.stat().st_mtime_ns) for kind, path in found.items() if path.exists()}


@pytest.mark.thorough
def test_only_what_changed_is_done_again(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0
    assert project.run("score", "eval").returncode == 0
    for name, change in CHANGES.items():
        change.make(project.folder())
        before = state(project.folder())
        done = project.run("score", "eval", *(change.options or ("--config", "eval.py")))
        assert done.returncode == 0, done.stderr
        after = state(project.folder())
        assert {kind for kind in FILES if after[kind] != before.get(kind)} == {*change.written}, name
    [row] = project.summary()
    assert row["score"] == 0.25


def test_a_run_that_is_taken_up_again_does_nothing_twice(project: Project) -> None:
    assert project.run("run", "eval.py").returncode == 0
    before = state(project.folder())
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert state(project.folder()) == before
    (project.folder() / FILES["page"]).unlink()
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert {**state(project.folder()), "page": 0} == {**before, "page": 0}
    assert "its scores are kept" in (project.folder() / "logs" / "run.log").read_text()


@pytest.mark.parametrize(
    ("scoring", "program"),
    [
        pytest.param("evaluator=dict(type='own.Own')", "same", id="a part of the user", marks=pytest.mark.process),
        pytest.param("evaluator=dict(type='AccEvaluator')", "another", id="another program"),
    ],
)
def test_what_may_score_otherwise_scores_again(
    project: Project, monkeypatch: pytest.MonkeyPatch, scoring: str, program: str
) -> None:
    (project.root / "own.py").write_text(OWN)
    project.write_config(datasets=DATASET.replace("evaluator=dict(type='Gsm8kEvaluator')", scoring))
    assert project.run("run", "eval.py").returncode == 0
    before = state(project.folder())
    if program == "another":
        monkeypatch.setattr("ais_prompt.scoring.unchanged.program_digest", lambda: program)
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert state(project.folder())["scores"] != before["scores"]
