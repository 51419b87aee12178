"""Answers that are not scored like others have a line for each state, with one of them and a command."""

from __future__ import annotations

import shlex

import pytest

from tests.core.e2e.project import DATASET, Project

LABELS = "dict(type='label_postprocess', labels=['yes', 'no'])"
TAG = "dict(type='xml_tag_postprocessor', tag='answer')"


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


def test_an_answer_that_was_not_read_is_shown_with_its_end(project: Project) -> None:
    found = run(project, 2)
    assert r"  2 no answer  'I would rather\nnot say.'  aisprompt view eval" in found.splitlines(), found


def test_an_empty_cell_is_told_where_an_editor_finds_it(project: Project) -> None:
    rows = [{"question": "1+1", "answer": "2"}, {"question": "2+2", "answer": "4"}, {"question": "3+3", "answer": ""}]
    project.write_data(rows)
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', default='It is 4.')")
    done = project.run("run", "eval.py")
    assert done.returncode == 1
    assert "1 right · 1 wrong · 1 no gold" in done.stdout, done.stdout
    assert done.stdout.count("sums.jsonl:3") == 1
    assert "… -r --max-failures 1" in done.stdout
    assert "WARNING" not in done.stderr


def test_another_postprocessor_is_tried_on_the_stored_answers(project: Project) -> None:
    answers = {rf"^{n}\+{n}": f"Between {50 + n} apples and maybe {2 * n} pears, hard to tell" for n in range(8)}
    project.write_config(models=f"dict(type='ScriptedModel', abbr='fake', answers={answers!r})")
    shown = project.run("run", "eval.py").stdout
    [remedy] = [line for line in shown.splitlines() if "--postprocessor" in line]
    assert "last_number_postprocess would give 100.0 %, and gsm8k_postprocess gives 0.0 %" in remedy
    done = project.run(*shlex.split(remedy.partition("aisprompt ")[2]))
    assert done.returncode == 0, done.stderr
    [row] = project.summary()
    assert (row["score"], row["unparsed"]) == (1.0, 0)
    assert "--postprocessor" not in done.stdout


@pytest.mark.parametrize(
    ("configured", "golds", "answer", "better"),
    [
        (LABELS, ("yes", "no"), "The answer is {}, or maybe yes or no.", "strategyqa_pred_postprocess"),
        (TAG, ("12", "30"), "So there are {} of them.", "gsm8k_postprocess"),
        (TAG, ("B", "D"), "The answer is ({}).", "first_option_postprocess"),
    ],
)
def test_other_readers_are_tried_on_labels_and_on_answers_without_the_form_that_is_read(
    project: Project, configured: str, golds: tuple[str, str], answer: str, better: str
) -> None:
    rows = [{"question": f"{n}+{n}=?", "answer": golds[n % 2]} for n in range(8)]
    project.write_data(rows)
    answers = {rf"^{n}\+{n}": answer.format(golds[n % 2]) for n in range(8)}
    datasets = DATASET.replace("dict(type='gsm8k_postprocess')", configured).replace("Gsm8kEvaluator", "AccEvaluator")
    assert configured in datasets
    project.write_config(models=f"dict(type='ScriptedModel', abbr='fake', answers={answers!r})", datasets=datasets)
    [command] = [line for line in project.run("run", "eval.py").stdout.splitlines() if "--postprocessor" in line]
    assert f"{better} would give 100.0 %" in command
    done = project.run(*shlex.split(command.partition("aisprompt ")[2]))
    assert done.returncode == 0, done.stderr
    assert project.summary()[0]["score"] == 1.0


def test_stored_answers_are_scored_with_other_parts(project: Project) -> None:
    run(project, 2)
    for options, score in (
        (("--postprocessor", "none", "--evaluator", "ContainsEvaluator"), 1 / 8),
        (("--postprocessor", "gsm8k_postprocess", "--evaluator", "AccEvaluator"), 1 / 8),
    ):
        done = project.run("score", "eval", *options)
        assert done.returncode == 0, done.stderr
        assert project.summary()[0]["score"] == score, options
    done = project.run("score", "eval", "--postprocessor", "last_nmber_postprocess")
    assert (done.returncode, "did you mean 'last_number_postprocess'?" in done.stderr) == (2, True)


def test_the_speed_of_a_script_is_not_shown(project: Project) -> None:
    assert "requests/s" not in run(project, 0)
    assert "requests/s" not in project.run("score", "eval", "--speed").stdout


def test_a_run_without_a_score_advises_to_go_on(project: Project) -> None:
    model = "dict(type='ScriptedModel', abbr='{}', answers={{'': {{'failure': 'unreachable', 'fatal': True}}}})"
    project.write_config(models=", ".join(map(model.format, ("fake", "other", "third"))))
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "go on with `-r`" in done.stderr
    assert "aisprompt" not in done.stdout.replace("aisprompt view", "", 1)
    assert (project.folder() / "logs" / "run.log").read_text().count("Traceback") == 1
