"""A rubric from config to report: criteria of a column, several judges, requests of their own, labels of people."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.core.e2e.project import Project, read_lines

RUBRIC = [
    {"criterion": "Names a hospital", "points": 10, "tags": ["safety"]},
    {"criterion": "Names the dose", "points": 5, "name": "dose"},
    {"criterion": "Gives a wrong dose", "points": -8, "tags": ["safety"]},
]
ROLES = ("user", "assistant", "user")
ROWS = [{"question": f"Q{number}", "answer": "A", "rubrics": RUBRIC} for number in range(4)]
MODEL = """dict(type='ScriptedModel', abbr='fake', answers={
    'Q0': 'hospital, 5 mg', 'Q1': 'hospital', 'Q2': '50 mg', 'Q3': 'prose'})"""


def judge(abbr: str, **answers: str) -> str:
    return f"dict(type='ScriptedModel', abbr={abbr!r}, answers={answers!r}, default='It is a good answer.')"


BOTH, ONE, WRONG = r"answer:\nhospital, 5", r"answer:\nhospital\n", r"answer:\n50 mg"
MARKS = {BOTH: (True, True, False), ONE: (True, False, False), WRONG: (False, False, True)}
JSON = judge("a", **{text: json.dumps(dict(zip("123", marks, strict=True))) for text, marks in MARKS.items()})
LINES = judge(
    "b",
    **{
        text: "\n".join(f"{number}. {'yes' if mark else 'no'}" for number, mark in enumerate(marks, 1))
        for text, marks in MARKS.items()
    },
)
HALF = judge("c", **{BOTH: '{"1": true, "2": tr', ONE: '{"3": false, "2": true, "1": true}', WRONG: "{}"})


def config(project: Project, judges: str, more: str = "") -> None:
    project.write_config(
        models=MODEL,
        datasets=f"""dict(
            abbr='sums', path='data/sums.jsonl',
            reader_cfg=dict(input_columns=['question'], output_column='rubrics'),
            infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
                inferencer=dict(type='GenInferencer')),
            eval_cfg=dict(evaluator=dict(type='RubricEvaluator', criteria='rubrics', judge_cfg={judges}{more})),
        )""",
    )


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data(ROWS)
    return project


def scores(project: Project) -> dict[str, Any]:
    return {row["metric"]: row["score"] for row in project.summary()}


def asked(project: Project, name: str = "a") -> list[dict[str, Any]]:
    return read_lines(project.folder() / "judge" / "fake" / "journal" / name / "sums.jsonl")


def test_a_rubric_of_a_column(project: Project) -> None:
    config(project, JSON)
    checked = project.run("check", "eval.py")
    assert "up to 4 requests to the judge a" in checked.stdout
    done = project.run("run", "eval.py", "--max-failures", "1")
    assert done.returncode == 0, done.stderr
    # 15/15, 10/15 and -8/15; the judge answered about the fourth in prose.
    assert scores(project) == {
        "rubric": pytest.approx((1 + 10 / 15 - 8 / 15) / 3),
        "safety": pytest.approx((1 + 1 - 8 / 10) / 3),
        "dose": pytest.approx(1 / 3),
    }
    assert "judge without verdict" in done.stdout
    [first, *_] = read_lines(project.folder() / "judge" / "fake" / "predictions" / "a" / "sums.jsonl")
    assert "The task:\nQ0\n\nThe answer:\nhospital, 5 mg\n" in first["origin_prompt"][0]["content"]
    assert len(asked(project)) == 4


MESSAGES = "dict(type='RawPromptTemplate', messages=[dict(expand_column='talk')])"
ROUNDS = """dict(type='MultiTurnPromptTemplate', turn_columns=['q', 'a'], template=dict(
    round=[dict(role='HUMAN', prompt='{q}'), dict(role='BOT', prompt='{a}')]))"""


@pytest.mark.parametrize(
    ("columns", "infer"),
    [
        ("'talk'", f"prompt_template={MESSAGES}, inferencer=dict(type='GenInferencer')"),
        ("'whole'", "inferencer=dict(type='ChatInferencer')"),
        ("'q'", f"prompt_template={ROUNDS}, inferencer=dict(type='MultiTurnGenInferencer', infer_mode='last')"),
    ],
    ids=["messages", "chat", "rounds"],
)
def test_a_rubric_of_a_column_about_the_last_answer_of_a_dialogue(project: Project, columns: str, infer: str) -> None:
    """The criteria of the row are its gold, whatever the data have the assistant say; the judge reads the dialogue."""
    talks = [["Hello", "Well?", question] for question in ("Q0", "Q1", "Q2")]
    rows = [
        {
            "talk": (talk := [{"role": role, "content": text} for role, text in zip(ROLES, texts, strict=False)]),
            "whole": [*talk, {"role": "assistant", "content": "Ideal."}],
            "q": texts[::2],
            "a": ["Well?", "Ideal."],
            "rubrics": RUBRIC,
        }
        for texts in talks
    ]
    project.write_data(rows)
    config(project, JSON)
    path = project.root / "eval.py"
    [before, _, after] = re.split(r"(reader_cfg=.*?eval_cfg=)", path.read_text(), flags=re.DOTALL)
    reader = f"reader_cfg=dict(input_columns=[{columns}], output_column=None, gold_columns=['rubrics'])"
    path.write_text(f"{before}{reader}, infer_cfg=dict({infer}), eval_cfg={after}")
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert scores(project)["rubric"] == pytest.approx((1 + 10 / 15 - 8 / 15) / 3)
    [first, *_] = read_lines(project.folder() / "judge" / "fake" / "predictions" / "a" / "sums.jsonl")
    if columns != "'q'":
        assert "User: Hello\n\nAssistant: Well?\n\nUser: Q0" in first["origin_prompt"][0]["content"]


def test_each_criterion_in_a_request_of_its_own(project: Project) -> None:
    alone = judge("a", **{"Names the dose": "no", "wrong dose": '{"criteria_met": false}', "hospital": "Verdict: yes"})
    config(project, alone, ", together=False")
    assert "up to 12 requests to the judge a" in project.run("check", "eval.py").stdout
    done = project.run("run", "eval.py", "--max-failures", "4")
    assert len(asked(project)) == 12, done.stderr
    assert scores(project)["dose"] == 0


def test_several_judges_decide_by_criterion(project: Project) -> None:
    config(project, f"[{JSON}, {LINES}, {HALF}]")
    done = project.run("run", "eval.py", "--max-failures", "4")
    assert done.returncode == 0, done.stderr
    found = scores(project)
    assert found["rubric"] == pytest.approx((1 + 10 / 15 - 8 / 15) / 3)
    assert found["dose disagreement"] == pytest.approx(1 / 3)  # the second answer
    assert found["safety disagreement"] == 0
    assert found["rubric by a"] == found["rubric by b"]
    assert 0 < found["krippendorff_alpha"] < 1


def test_labels_of_criteria_measure_the_judge(project: Project) -> None:
    config(project, JSON)
    assert project.run("run", "eval.py", "--max-failures", "1").returncode == 0
    ids = [line["id"] for line in project.predictions()]
    labels = [
        {"id": name, "criterion": criterion, "label": label}
        for name, marks in zip(ids, [(1, 1), (1, 1), (0, 0)], strict=False)
        for criterion, label in zip(("Names a hospital", "dose"), marks, strict=True)
    ]
    (project.root / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    done = project.run("judge-check", "eval", "--labels", "labels.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    judges = {one["task"]: one for one in json.loads(done.stdout)["judges"]}
    assert judges["fake/sums"]["labelled"] == 6
    assert judges["fake/sums Names a hospital"]["sensitivity"][0] == 1
    assert judges["fake/sums dose"]["sensitivity"][0] == 0.5
    assert "alpha" not in project.run("judge-check", "eval", "--labels", "labels.jsonl").stdout


def test_a_column_without_criteria_is_found_before_the_run(project: Project) -> None:
    project.write_data([{"question": "Q0", "rubrics": "Paris"}])
    config(project, JSON)
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "'Paris' is no list of criteria" in done.stderr


def test_a_judge_without_a_prompt_of_its_own_needs_one(project: Project) -> None:
    config(project, JSON)
    path = project.root / "eval.py"
    path.write_text(path.read_text().replace("RubricEvaluator', criteria='rubrics'", "GenericLLMEvaluator'"))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "has no 'prompt_template'" in done.stderr


def test_reference_answers_are_shown_to_the_judge(project: Project) -> None:
    more = ", baseline=dict(column='ideal')"
    project.write_data([{**row, "ideal": f"hospital, {number} mg"} for number, row in enumerate(ROWS)])
    config(project, JSON, more)
    assert "a prompt_template with {prediction2}" in project.run("check", "eval.py").stderr
    template = "answer:\\n{prediction}\\n\\nbest: {prediction2}\\n\\n{criteria}"
    config(project, JSON, f"{more}, prompt_template=dict(type='PromptTemplate', template='{template}')")
    done = project.run("run", "eval.py", "--max-failures", "1")
    assert done.returncode == 0, done.stderr
    assert scores(project)["rubric"] == pytest.approx((1 + 10 / 15 - 8 / 15) / 3)
    replies = read_lines(project.folder() / "judge" / "fake" / "predictions" / "a" / "sums.jsonl")
    assert "best: hospital, 2 mg\n\n1. Names a hospital" in json.dumps(replies[2]["origin_prompt"], indent=0).replace(
        "\\n", "\n"
    )


def test_a_rubric_beside_other_evaluators(project: Project) -> None:
    short = judge("a", **{BOTH: "1. yes", ONE: "1. no", WRONG: "1. yes"})
    rubric = f"dict(type='RubricEvaluator', criteria=['It is short'], judge_cfg={short})"
    project.write_config(
        models=MODEL,
        datasets=f"""dict(
            abbr='sums', path='data/sums.jsonl',
            reader_cfg=dict(input_columns=['question'], output_column='answer'),
            infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
                inferencer=dict(type='GenInferencer', n=2)),
            eval_cfg=dict(evaluator=[dict(type='AccEvaluator'), {rubric}]),
        )""",
    )
    done = project.run("run", "eval.py", "--max-failures", "4")
    assert done.returncode == 0, done.stderr
    found = scores(project)
    assert found["accuracy"] == 0
    assert found["rubric"] == found["It is short"] == pytest.approx(2 / 3)
