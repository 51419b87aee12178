"""Judges are measured against labels."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import Project

DATASET = """dict(
    abbr='facts',
    path='data/facts.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{question}'),
        inferencer=dict(type='GenInferencer'),
    ),
    eval_cfg=dict(
        evaluator=dict(
            type='GenericLLMEvaluator',
            prompt_template=dict(type='PromptTemplate', template='{question} {prediction}'),
            judge_cfg=dict(type='ScriptedModel', abbr='judge', default='B', answers={ANSWERS}),
        ),
    ),
)"""
N = 40


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data([{"question": f"Fact {number:02}?", "answer": "x"} for number in range(N)], "facts.jsonl")
    return project


def run(project: Project, name: str, pattern: str, failing: str = "none") -> str:
    """A run whose judge calls right what the pattern matches, and fails where the other one matches."""
    answers = repr({failing: {"failure": "http_500"}, pattern: "A"})
    model = "dict(type='ScriptedModel', abbr='m', default='An answer.')"
    datasets = DATASET.replace("{ANSWERS}", answers)
    project.write_config(models=model, datasets=datasets, more=f"run_name = '{name}'")
    done = project.run("run", "eval.py", "--max-failures", "100%")
    assert done.returncode == 0, done.stderr
    return name


def ids(project: Project) -> list[str]:
    file = next((project.root / "outputs").rglob("predictions/m/facts.jsonl"))
    return [json.loads(line)["id"] for line in file.read_text().splitlines()]


def label(project: Project, right: Any, count: int = N) -> Path:
    rows = [{"id": sample, "label": right(number)} for number, sample in enumerate(ids(project))][:count]
    return project.write_data(rows, "labels.jsonl")


def test_a_judge_and_its_corrected_score(project: Project) -> None:
    run(project, "one", "Fact [0-2]")  # 30 of 40 are called right
    labels = label(project, lambda number: number < 20 or number >= 38)  # 22 are: 20 found, 10 too many, 2 missed
    done = project.run("judge-check", "one", "--labels", str(labels))
    assert done.returncode == 0, done.stderr
    assert re.search(r"m/facts of \S+: 40 labelled answers\n", done.stdout)
    assert "sensitivity      90.9 %  [" in done.stdout
    assert "specificity      44.4 %  [" in done.stdout
    assert "score            75.0 % as judged" in done.stdout
    assert "corrected score  55.0 %  [" in done.stdout
    found = json.loads(project.run("judge-check", "one", "--labels", str(labels), "--json").stdout)
    [judge] = found["judges"]
    assert (judge["labelled"], judge["score"], found["alpha"]) == (40, 0.75, None)
    assert judge["sensitivity"][0] == pytest.approx(20 / 22)
    assert judge["corrected"][1] < judge["corrected"][0] < judge["corrected"][2]


@pytest.mark.thorough
def test_several_judges_and_answers_without_a_verdict(project: Project) -> None:
    run(project, "one", "Fact [0-2]")
    run(project, "two", "Fact [0-1]", failing="Fact 3[5-9]")
    labels = label(project, lambda number: str(number < 20), count=39)
    done = project.run("judge-check", "one", "two", "--labels", str(labels))
    assert "35 labelled answers, 4 more without a verdict" in done.stdout
    assert "specificity      100.0 %" in done.stdout
    assert re.search(r"Krippendorff's alpha of 2 judges, 35 answers: 0\.\d{3}", done.stdout)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "x", "verdict": True}], "the labels have no column 'label'"),
        ([{"id": "x", "label": "perhaps"}], "the label 'perhaps' is neither right nor wrong"),
        ([{"id": "x", "label": 1}, {"id": "x", "label": 0}], "the id 'x' is there twice"),
        ([{"id": "x", "label": 1}], "no labelled answer has a verdict"),
    ],
)
def test_labels_that_cannot_be_used(project: Project, rows: list[dict[str, Any]], message: str) -> None:
    run(project, "one", "Fact [0-2]")
    labels = project.write_data(rows, "labels.jsonl")
    done = project.run("judge-check", "one", "--labels", str(labels))
    assert done.returncode == 2
    assert message in done.stderr
    done = project.run("judge-check", "one", "--labels", str(labels), "--task", "m/other")
    assert done.returncode == 2
