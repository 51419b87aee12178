"""Config trees in the layout of OpenCompass, written by us: named, read as bases, and run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ais_prompt.extensions.peers.command_line import ANSWERS
from tests.core.e2e.project import MODEL, Project

FILE = """from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.utils.text_postprocessors import first_option_postprocess

{name}_datasets = [
    dict(
        abbr='{name}',
        type='LocalDataset',
        path={path!r},
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template=dict(round=[dict(role='HUMAN', prompt='{{question}}')])),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer, max_seq_len=2048, batch_size=8),
        ),
        eval_cfg=dict(
            evaluator=dict(type=AccEvaluator),
            pred_role='BOT',
            pred_postprocessor=dict(type=first_option_postprocess, options='ABCD'),
        ),
    )
]
"""
SUMMARIZER = """summarizer = dict(
    dataset_abbrs=['quiz', ['exam', 'accuracy'], 'both'],
    summary_groups=[dict(name='both', subsets=['quiz', 'riddle'], harmonic_mean=True)],
)
"""


@pytest.fixture
def tree(project: Project) -> Path:
    """The root of a package ``opencompass`` with a config tree and no code."""
    data = project.root / "rows.jsonl"
    data.write_text(json.dumps({"question": "A or B?", "answer": "A"}) + "\n")
    root = project.root / "checkout"
    configs = root / "opencompass" / "configs"
    files = {
        "datasets/quiz/quiz_gen_123abc.py": FILE.format(name="quiz", path=str(data)),
        "datasets/quiz/quiz_gen.py": "from mmengine.config import read_base\nwith read_base():\n"
        "    from .quiz_gen_123abc import quiz_datasets\n",
        "datasets/riddle/riddle_gen.py": FILE.format(name="riddle", path=str(data)),
        "datasets/other/quiz_gen.py": FILE.format(name="other", path=str(data)),
        "summarizers/short.py": SUMMARIZER,
        "models/fake.py": f"models = [{MODEL.replace('It is 4.', 'The answer is A')}]\n",
    }
    (root / "opencompass" / "__init__.py").parent.mkdir(parents=True)
    (root / "opencompass" / "__init__.py").write_text("raise SystemExit('imported')")
    for name, text in files.items():
        path = configs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.thorough
def test_names_of_a_checkout_run_with_notes(project: Project, tree: Path) -> None:
    named = ("--datasets", "quiz/quiz_gen", "riddle*", "--models", "fake", "--summarizer", "short")
    done = project.run("run", *named, "--peer-path", str(tree))
    assert done.returncode == 0, done.stderr
    [folder] = (project.root / "outputs").rglob("run.json")
    notes = "\n".join(json.loads(folder.read_text())["sessions"][0]["notes"])
    for part in ("batch_size", "max_seq_len", "pred_role", "first_option_postprocess", "show '-': exam"):
        assert part in notes
    rows = json.loads((folder.parent / "summary" / "summary.json").read_text())
    assert any(row["dataset"] == "both" and row["metric"] == "harmonic_mean" and row["score"] == 1.0 for row in rows)
    assert "exam" in (folder.parent / "summary" / "summary.txt").read_text()
    assert "batch_size" in (folder.parent / "logs" / "run.log").read_text()


def test_check_shows_each_note_once_and_the_choice_among_files(project: Project, tree: Path) -> None:
    done = project.run("check", "--datasets", "quiz_gen", "riddle_gen", "--models", "fake", "--peer-path", str(tree))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'batch_size' is not used") == 1
    assert "and 1 more" in done.stdout
    chosen = "'quiz_gen' is other/quiz_gen; to use another, name it: quiz/quiz_gen"
    assert chosen in " ".join(done.stdout.split())
    notes = [line for line in done.stdout.splitlines() if line.startswith(("Note", "  ")) and "where:" not in line]
    assert max(map(len, notes)) <= 80


@pytest.mark.process
@pytest.mark.parametrize("place", ["--peer-path", "--config-dir", "configs", "enclosing", "installed"])
def test_a_base_of_the_package_is_found(project: Project, tree: Path, place: str) -> None:
    eval_py = project.root / "eval.py"
    options = {
        "--peer-path": ["--peer-path", str(tree)],
        "--config-dir": ["--config-dir", str(tree / "opencompass" / "configs")],
    }.get(place, [])
    if place == "configs":
        (tree / "opencompass" / "configs").rename(project.root / "configs")
    elif place == "enclosing":
        (tree / "opencompass" / "configs").rename(tree / "configs")
        eval_py = tree / "configs" / "eval.py"
    elif place == "installed":
        project.environment["PYTHONPATH"] = str(tree)
    eval_py.write_text(
        "from mmengine.config import read_base\nwith read_base():\n"
        "    from opencompass.configs.datasets.quiz.quiz_gen import quiz_datasets\n"
        f"datasets = quiz_datasets\nmodels = [{MODEL}]\n"
    )
    run = project.run_process if place == "installed" else project.run
    done = run("check", str(eval_py), *options)
    assert done.returncode == 0, done.stderr
    assert "No faults: 1 model, 1 dataset" in done.stdout


def test_a_base_that_is_nowhere_names_the_places(project: Project) -> None:
    (project.root / "eval.py").write_text(
        "from mmengine.config import read_base\nwith read_base():\n    from opencompass.configs.datasets.x import y\n"
    )
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "is in no config tree; searched:" in done.stderr
    assert "--peer-path" in done.stderr


def test_a_file_of_datasets_says_how_to_run_it(project: Project, tree: Path) -> None:
    file = tree / "opencompass/configs/datasets/riddle/riddle_gen.py"
    done = project.run("run", str(file))
    assert done.returncode == 2
    assert f"aisprompt run --datasets {file} --models NAME" in done.stderr
    assert project.run("check", "--datasets", str(file), "--models", "demo_chat").returncode == 0


@pytest.mark.torch
def test_a_file_with_questions_is_a_dataset(project: Project) -> None:
    (project.root / "mine.csv").write_text("question,A,B,answer\nWhich?,x,y,A\n")
    options = ("--custom-dataset-path", "mine.csv", "--models", "demo_chat", "--dataset-num-runs", "2")
    done = project.run("view-prompt", *options, "-n")
    assert done.returncode == 0, done.stderr
    assert "Question: Which?" in done.stdout
    assert "B. y" in done.stdout


@pytest.mark.thorough
def test_the_settings_in_place_of_options_of_the_peers_are_accepted(project: Project) -> None:
    settings = [setting for text in ANSWERS.values() for setting in re.findall(r"--set (\"models.*\"|models\S+)", text)]
    assert len(settings) >= 9
    given = [word for setting in settings for word in ("--set", setting.strip('"')) if "retry" not in setting]
    done = project.run("check", "--hf-path", "folder", "--datasets", "demo_addition", *given)
    assert "ConfigError" not in done.stderr + done.stdout


@pytest.mark.parametrize("option", ["--slurm", "-l", "--lark", "-sp"])
def test_an_option_of_the_peers_without_a_meaning_says_why(project: Project, option: str) -> None:
    done = project.run("run", "eval.py", option, "3")
    assert done.returncode == 2
    assert "is not an option here" in done.stderr


def test_an_unknown_option_is_one(project: Project) -> None:
    assert "No such option" in project.run("run", "--colour").stderr


def test_many_rounds_of_a_chat_are_asked_after_the_answers_of_the_model(project: Project) -> None:
    chat = [{"role": "user", "content": "Say 1."}, {"role": "assistant", "content": ""}]
    chat += [{"role": "user", "content": "And 2?"}, {"role": "assistant", "content": ""}]
    (project.root / "rows.jsonl").write_text(json.dumps({"dialogue": chat, "reference": "?"}) + "\n")
    (project.root / "rounds.py").write_text(
        "from opencompass.openicl.icl_inferencer import GenInferencer\n"
        "from opencompass.openicl.icl_raw_prompt_template import RawPromptTemplate\n"
        "from opencompass.openicl.icl_retriever import ZeroRetriever\n"
        "models = [dict(type='ScriptedModel', abbr='fake', answers={'2': 'two'}, default='one')]\n"
        "datasets = [dict(abbr='rounds', type='LocalDataset', path='rows.jsonl',\n"
        "    reader_cfg=dict(input_columns=['dialogue'], output_column='reference'),\n"
        "    infer_cfg=dict(\n"
        "        prompt_template=dict(type=RawPromptTemplate, messages=[{'expand_column': 'dialogue'}],\n"
        "                             format_variables=False),\n"
        "        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer, multiround=True)),\n"
        "    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n"
    )
    done = project.run("run", "rounds.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    [path] = (project.root / "outputs").rglob("predictions/*/rounds.jsonl")
    line = json.loads(path.read_text())
    assert line["prediction"] == ["one", "two"]
    assert [message["content"] for message in line["origin_prompt"][1]] == ["Say 1.", "one", "And 2?"]


def test_an_agent_that_keeps_its_notebook_is_refused_with_the_reason(project: Project) -> None:
    text = FILE.format(name="quiz", path="rows.jsonl").replace("GenInferencer", "AgentInferencer")
    text = text.replace("max_seq_len=2048", "infer_mode='every'")
    (project.root / "quiz.py").write_text(text)
    done = project.run("check", "--datasets", "quiz.py", "--hf-path", "weights", "--allow-code-execution")
    assert done.returncode == 2
    assert "with infer_mode='every' its programs build on each other in a notebook" in done.stderr
    assert "fix:   use infer_mode='last'" in done.stderr


@pytest.mark.parametrize(
    ("name", "why", "instead"),
    [
        ("AttackInferencer", "with promptbench", "GenInferencer, with a config for each wording"),
        ("ToTInferencer", "a tree of thoughts", "GenInferencer with n=5"),
        ("InferencePPLOnlyInferencer", "the loss of each token", "PPLOnlyInferencer"),
        ("SWCELossInferencer", "the loss of each token", "PPLOnlyInferencer"),
    ],
)
def test_an_inferencer_without_a_counterpart_is_refused_with_the_reason(
    project: Project, name: str, why: str, instead: str
) -> None:
    text = FILE.format(name="quiz", path="rows.jsonl").replace("GenInferencer", name)
    (project.root / "quiz.py").write_text(text)
    done = project.run("check", "--datasets", "quiz.py", "--hf-path", "weights")
    assert done.returncode == 2
    assert f"icl_inferencer.{name} is a part of OpenCompass, which ais_prompt does not use: " in done.stderr
    assert why in done.stderr
    assert f"fix:   use {instead}" in done.stderr


def test_the_runners_of_peers_are_not_used(project: Project) -> None:
    task = "dict(type='opencompass.tasks.OpenICLInferTask')"
    runner = f"dict(type='opencompass.runners.LocalRunner', max_num_workers=16, task={task})"
    project.write_config(more=f"infer = dict(runner={runner})\nrunner = {runner}")
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert not (project.folder() / "shards").exists()
