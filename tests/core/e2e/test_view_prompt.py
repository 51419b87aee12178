"""``aisprompt view-prompt``: what is shown is what is sent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project

DIALOGUE = DATASET.replace(
    "template='{question}\\nAnswer: {answer}'",
    "template=dict(round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])",
).replace("'sums'", "'talk'")
SHOTS = """dict(
    abbr='shots', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns='question', output_column='answer'),
    infer_cfg=dict(
        ice_template=dict(type='PromptTemplate', template='Q: {question}\\nA: {answer}'),
        prompt_template=dict(type='PromptTemplate', template='</E>Q: {question}\\nA: {answer}', ice_token='</E>'),
        retriever=dict(type='FixKRetriever', fix_id_list=[1, 2], allow_overlap=True),
        inferencer=dict(type='GenInferencer'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""


@pytest.fixture
def viewed(project: Project) -> Project:
    project.write_config(
        models=f"{MODEL}, dict(type='ScriptedModel', abbr='text', prompt_style='text')",
        datasets=f"{DATASET}, {DIALOGUE}, {SHOTS}",
    )
    return project


@pytest.mark.thorough
def test_shown_is_what_a_run_sends(viewed: Project) -> None:
    shown = json.loads(viewed.run("view-prompt", "eval.py", "-a", "-c", "3", "--json").stdout)
    assert viewed.run("run", "eval.py").returncode == 0
    for model in ("fake", "text"):
        for dataset in ("sums", "talk", "shots"):
            sent = viewed.predictions(model, dataset)[:3]
            prompts = [view for view in shown if (view["model"], view["dataset"]) == (model, dataset)]
            assert [view["prompt"] for view in prompts] == [line["origin_prompt"] for line in sent]
            assert [view["id"] for view in prompts] == [line["id"] for line in sent]


@pytest.mark.thorough
def test_any_row_can_be_shown(viewed: Project) -> None:
    def shown(*options: str) -> list[tuple[int, str, list[int]]]:
        done = viewed.run("view-prompt", "eval.py", "-n", "-p", "shots", "--json", *options)
        return [(view["index"], view["prompt"], view["shots"]) for view in json.loads(done.stdout)]

    assert shown("--sample", "1", "-c", "2") == shown("-c", "3")[1:]
    rows = len(shown("-c", "1000"))
    assert shown("--sample", str(rows - 1), "-c", "9") == shown("-c", str(rows))[-1:]
    done = viewed.run("view-prompt", "eval.py", "-n", "--sample", str(rows))
    assert (done.returncode, done.stderr.splitlines()[-1].strip()) == (2, f"fix:   rows count from 0, up to {rows - 1}")


def test_the_gold_is_shown_apart_and_is_not_in_the_prompt(viewed: Project) -> None:
    [view] = json.loads(viewed.run("view-prompt", "eval.py", "-p", "shots", "-n", "--json").stdout)
    assert view["gold"] == "0"
    assert view["prompt"] == [{"role": "user", "content": "Q: 1+1=?\nA: 2\nQ: 2+2=?\nA: 4\nQ: 0+0=?\nA: "}]
    assert view["shots"] == [1, 2]
    assert view["tokens"] == 11


def test_the_first_one_without_questions_when_nobody_can_answer(viewed: Project) -> None:
    done = viewed.run("view-prompt", "eval.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("As sent") == 1
    assert "fake/sums" in done.stdout


def test_who_says_what_is_told_where_the_prompt_is_one_text(viewed: Project) -> None:
    done = viewed.run("view-prompt", "eval.py", "-a", "-p", "talk")
    text = done.stdout[done.stdout.index("text/talk") :]
    assert "[HUMAN] 0+0=?⟨end⟩" in text
    assert "As sent: one text" in text


def test_data_is_shown_as_it_is(project: Project) -> None:
    hostile = "[bold]{answer}[/bold] \\n </E> \x1b[31m {question} 你好"
    project.write_data([{"question": hostile, "answer": "7531"}])
    [view] = json.loads(project.run("view-prompt", "eval.py", "--json").stdout)
    assert view["prompt"][0]["content"] == f"{hostile}\nAnswer: "
    done = project.run("view-prompt", "eval.py")
    assert "[bold]{answer}[/bold] \\n </E>" in done.stdout
    assert "\x1b" not in done.stdout


def test_every_piece_has_an_origin(viewed: Project) -> None:
    done = viewed.run("view-prompt", "eval.py", "-p", "shots", "-n", "--origins")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "template of shot 1: 'Q: '" in lines
    assert "data column 'question' of shot 1: '1+1=?'" in lines
    assert "data column 'question': '0+0=?'" in lines
    [view] = json.loads(viewed.run("view-prompt", "eval.py", "-p", "shots", "-n", "--origins", "--json").stdout)
    [spans] = view["origins"]
    assert "".join(span["text"] for span in spans) == view["prompt"][0]["content"]
    where = "datasets[2].infer_cfg.ice_template.template"
    data = {"kind": "data", "column": "question", "shot": 2, "where": where, "role": ""}
    assert {"text": "2+2=?", **data} in spans
    assert re.fullmatch(re.escape(where) + r" \(eval\.py:\d+\)", view["places"][where])


@pytest.mark.torch
def test_tokens_have_ids_and_special_ones_a_star(project: Project) -> None:
    demo = Path(__file__).parents[3] / "configs" / "data" / "demo_model"
    project.write_config(models=f"dict(type='HuggingFaceBaseModel', abbr='demo', path='{demo}')")
    done = project.run("view-prompt", "eval.py", "-n", "--tokens")
    assert done.returncode == 0, done.stderr
    assert "<s>⟨★0⟩" in done.stdout
    [view] = json.loads(project.run("view-prompt", "eval.py", "-n", "--tokens", "--json").stdout)
    assert len(view["all_tokens"]) == view["tokens"]
    assert [token["special"] for token in view["all_tokens"]] == [True] + [False] * (view["tokens"] - 1)


TURNS = """dict(
    abbr='turns', type='LocalDataset', path='data/turns.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='MultiTurnPromptTemplate', template=dict(round=[
            dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='MultiTurnGenInferencer', infer_mode='MODE'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""


@pytest.mark.parametrize(
    ("mode", "uses"),
    [
        ("every", ["none", "none", "none"]),
        ("every_with_gt", ["none", "earlier turns", "earlier turns"]),
        ("last", ["earlier turns"]),
    ],
)
def test_how_much_of_the_gold_of_a_dialogue_is_sent(project: Project, mode: str, uses: list[str]) -> None:
    row = {"question": ["1+1=?", "2+2=?", "3+3=?"], "answer": ["2", "4", "6"]}
    (project.root / "data" / "turns.jsonl").write_text(json.dumps(row) + "\n")
    project.write_config(models=MODEL, datasets=TURNS.replace("MODE", mode))
    views = json.loads(project.run("view-prompt", "eval.py", "-n", "--json").stdout)
    assert [view["gold_sent"] for view in views] == uses
    sent = "".join(project.run("view-prompt", "eval.py", "-n").stdout.splitlines())
    assert ("Gold, not sent" in sent) == (mode == "every")


LABELS = """dict(
    abbr='labels', type='LocalDataset', path='data/labels.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=TEMPLATE),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='PPLInferencer'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""
SCORER = "dict(type='ScriptedModel', abbr='fake', prompt_style='text', likelihoods={'A:': 1.0})"


def test_labels_come_from_the_gold_answers_in_every_command(project: Project) -> None:
    rows = [{"question": "1+1=2?", "answer": "yes"}, {"question": "1+1=3?", "answer": "no"}]
    (project.root / "data" / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    project.write_config(models=SCORER, datasets=LABELS.replace("TEMPLATE", "'{question} A: {answer}'"))
    checked = project.run("check", "eval.py")
    assert checked.returncode == 0, checked.stderr
    assert "all 2 labels have the same prompt" in checked.stdout + checked.stderr
    views = json.loads(project.run("view-prompt", "eval.py", "-n", "--json").stdout)
    assert [(view["title"], view["gold_sent"]) for view in views] == [("label yes", "all"), ("label no", "all")]
    assert project.run("run", "eval.py").returncode == 0
    assert [list(line["labels"]) for line in project.predictions(dataset="labels")] == [["yes", "no"]] * 2


def test_a_label_table_sends_every_label_in_turn(project: Project) -> None:
    (project.root / "data" / "labels.jsonl").write_text('{"question": "1+1=2?", "answer": "yes"}\n')
    table = "{'yes': '{question} Yes.', 'no': '{question} No.'}"
    project.write_config(models=SCORER, datasets=LABELS.replace("TEMPLATE", table))
    shown = project.run("view-prompt", "eval.py", "-n").stdout
    assert "Gold; every label is sent in turn" in shown
    assert "Warning" not in shown


def test_a_page_of_every_model_and_dataset(viewed: Project) -> None:
    done = viewed.run("view-prompt", "eval.py", "--html")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "prompts.html: 6 prompts, for a browser\n"
    page = (viewed.root / "prompts.html").read_text()
    assert page.count('<article class="prompt-view">') == 6
    assert "data, column question of test row 0" in page
    assert viewed.run("view-prompt", "eval.py", "-n", "--html", "one.html").stdout.startswith("one.html: 1 prompt")


@pytest.mark.thorough
def test_a_second_config_is_beside_the_first(viewed: Project) -> None:
    text = (viewed.root / "eval.py").read_text()
    (viewed.root / "other.py").write_text(text.replace("Answer: {answer}", "So: {answer}"))
    done = viewed.run("view-prompt", "eval.py", "--with", "other.py", "-p", "sums", "--html", "both.html")
    assert done.returncode == 0, done.stderr
    page = (viewed.root / "both.html").read_text()
    assert re.findall("<h3>(.*?)</h3>", page) == [
        f"{one} · {model}" for one in ("eval.py", "other.py") for model in ("fake", "text")
    ]
    shown = viewed.run("view-prompt", "eval.py", "--with", "other.py", "-p", "sums", "-n").stdout
    assert (
        shown.index("=== eval.py ===") < shown.index("Answer: ") < shown.index("=== other.py ===") < shown.index("So: ")
    )
    found = json.loads(viewed.run("view-prompt", "eval.py", "--with", "other.py", "-p", "sums", "--json").stdout)
    assert [view["prompt"][0]["content"].split("\n")[1] for view in found] == ["Answer: ", "So: "]


def test_configs_of_one_name_are_told_apart(viewed: Project) -> None:
    text = (viewed.root / "eval.py").read_text()
    (viewed.root / "old").mkdir()
    (viewed.root / "old" / "eval.py").write_text(text)
    for other, titles in (("old/eval.py", ["eval.py", "old/eval.py"]), ("eval.py", ["eval.py", "eval.py (--with)"])):
        viewed.run("view-prompt", "eval.py", "--with", other, "-n", "--html")
        page = (viewed.root / "prompts.html").read_text()
        assert re.findall("<h3>(.*?)</h3>", page) == [f"{titles[0]} · fake"]
        assert page.count(f"The same prompt for {titles[1]} · fake.") == 1


def test_a_page_does_not_replace_the_config(viewed: Project) -> None:
    before = (viewed.root / "eval.py").read_text()
    done = viewed.run("view-prompt", "--html", "eval.py")
    assert done.returncode == 2
    assert "'eval.py' does not end with .html" in done.stderr
    assert (viewed.root / "eval.py").read_text() == before
