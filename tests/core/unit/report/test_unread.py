"""Where more than a fifth of the answers are unparsed, one of them is shown."""

from __future__ import annotations

import pytest

from tests.core.e2e.project import Project


@pytest.fixture
def project(tmp_path: object) -> Project:
    made = Project(tmp_path)  # type: ignore[arg-type]
    made.write_data()
    return made


def run(project: Project, unread: int) -> str:
    answers = {rf"^{n}\+{n}": "I would rather\nnot say." for n in range(unread)}
    project.write_config(models=f"dict(type='ScriptedModel', abbr='fake', answers={answers!r}, default='It is 4.')")
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_answer_that_was_not_read_is_shown_with_its_end(project: Project) -> None:
    expected = r"fake/sums: no answer is found in 2 of 8; the first ends with 'I would rather\nnot say.'"
    found = run(project, 2)
    assert expected in found.splitlines(), found


def test_a_few_are_not_worth_a_line(project: Project) -> None:
    assert "no answer is found in" not in run(project, 1)


def test_the_speed_of_a_script_is_not_shown(project: Project) -> None:
    assert "requests/s" not in run(project, 0)
    assert "requests/s" not in project.run("score", "eval", "--speed").stdout


def test_a_run_without_a_score_advises_to_go_on(project: Project) -> None:
    project.write_config(
        models="dict(type='ScriptedModel', abbr='fake', answers={'': {'failure': 'unreachable', 'fatal': True}})"
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "go on once it is fixed" in done.stdout
    assert "look at every sample" not in done.stdout
