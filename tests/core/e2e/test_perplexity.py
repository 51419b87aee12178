"""Choosing by likelihood, through the real program."""

from __future__ import annotations

import math

import pytest

from tests.core.e2e.project import Project, read_lines

pytestmark = pytest.mark.torch


LIKELIHOODS = "{r'(\\d)\\+\\1=\\? is 4': 1.0, '6': 2.0, '': 3.0}"
CHOICE = """dict(
    abbr='sums', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=%s),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='PPLInferencer'%s),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""
TABLE = "{'4': '{question} is 4', '6': '{question} is 6'}"


def scripted(more: str = "") -> str:
    return f"dict(type='ScriptedModel', abbr='fake', prompt_style='text', likelihoods={LIKELIHOODS}{more})"


def test_labels_are_scored_and_a_run_is_taken_up_again(project: Project) -> None:
    project.write_config(models=scripted(", fail_after=5, max_concurrency=1"), datasets=CHOICE % (TABLE, ""))
    first = project.run("run", "eval.py")
    assert first.returncode == 1, first.stderr
    assert [line["prediction"] for line in project.predictions()] == ["4", "4"] + [None] * 6
    project.write_config(models=scripted(), datasets=CHOICE % (TABLE, ""))
    again = project.run("run", "eval.py", "-r")
    assert again.returncode == 0, again.stderr
    assert "2 of 8 samples are answered already" in again.stderr + again.stdout
    lines = project.predictions()
    assert [line["prediction"] for line in lines] == ["4"] * 8
    assert lines[0]["labels"]["6"] == {
        "prompt": "0+0=? is 6",
        "ppl": 2.0,
        "nll": 4.0,
        "tokens": 2,
        "bpb": pytest.approx(4 / math.log(2) / 10),
    }
    [row] = project.summary()
    assert (row["score"], row["failed"]) == (1 / 8, 0)
    answered = [line for line in project.journal() if "failure" not in line["completion"]]
    assert len(answered) == 16


@pytest.mark.parametrize(
    ("template", "options", "what", "fix"),
    [
        (TABLE, ", labels=['5']", "no entry for '5'", "add the label"),
        (TABLE, ", labels=[]", "labels must be different and at least one", "labels=['A', 'B']"),
        (TABLE, ", normalizing_str='A:'", "normalizing_str needs a sep_token", "sep_token='<S>'"),
        (TABLE, ", normalization='tokens'", "'normalization' of PPLInferencer cannot be 'tokens'", "infer_cfg"),
    ],
)
def test_what_cannot_work_is_said_in_three_lines(
    project: Project, template: str, options: str, what: str, fix: str
) -> None:
    project.write_config(models=scripted(), datasets=CHOICE % (template, options))
    done = project.run("run", "eval.py")
    assert done.returncode == 2
    assert what in done.stderr
    assert fix in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_model_chooses_the_right_sums(project: Project) -> None:
    done = project.run("run", "--models", "demo_base", "--datasets", "demo_choice", "-w", str(project.root / "out"))
    assert done.returncode == 0, done.stderr
    [file] = (project.root / "out").rglob("predictions/demo-base/demo-choice.jsonl")
    lines = read_lines(file)
    assert len(lines) == 200
    right = sum(line["prediction"] == line["gold"] for line in lines)
    assert 0.8 < right / len(lines) < 1
    for line in lines:
        assert list(line["labels"]) == ["A", "B", "C", "D"]
        assert line["prediction"] == min(line["labels"], key=lambda label: line["labels"][label]["ppl"])


def test_labels_may_be_numbers(project: Project) -> None:
    project.write_data([{"question": f"{number}+{number}=?", "answer": 2 * number} for number in range(3)])
    table = "{4: '{question} is 4', 6: '{question} is 6'}"
    project.write_config(models=scripted(), datasets=CHOICE % (table, ""))
    checked = project.run("check", "eval.py")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert [line["prediction"] for line in project.predictions()] == [4, 4, 4]
    [row] = project.summary()
    assert (row["score"], row["scored"]) == (pytest.approx(1 / 3), 3)
    assert "is 4" in project.run("view-prompt", "eval.py", "-n").stdout
