"""``--peer-scores``: a run of a config of OpenCompass is scored as there, also after it was scored by our rules."""

from __future__ import annotations

import json

import pytest

from tests.core.e2e.project import Project

CONFIG = {
    "abbr": "gsm8k",
    "type": "opencompass.datasets.GSM8KDataset",
    "path": "gsm8k",
    "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
    "infer_cfg": {
        "prompt_template": {
            "type": "opencompass.openicl.icl_prompt_template.PromptTemplate",
            "template": "{question}",
        },
        "retriever": {"type": "opencompass.openicl.icl_retriever.ZeroRetriever"},
        "inferencer": {"type": "opencompass.openicl.icl_inferencer.GenInferencer"},
    },
    "eval_cfg": {
        "evaluator": {"type": "opencompass.datasets.Gsm8kEvaluator"},
        "pred_postprocessor": {"type": "opencompass.datasets.gsm8k_postprocess"},
        "dataset_postprocessor": {"type": "opencompass.datasets.gsm8k_dataset_postprocess"},
    },
}
ANSWERS = {
    "apples": "She buys 5 apples.\\nShe eats two of 5 apples, which leaves 3 for x3",
    "pears": "The answer is 4.",
}
"""Answers to questions: their rule reads the last digits of the first, ours no number of it."""


@pytest.fixture
def apples(project: Project) -> Project:
    """A project with questions and a config."""
    folder = project.root / "gsm8k"
    folder.mkdir()
    rows = [{"question": "How many apples?", "answer": "#### 3"}, {"question": "How many pears?", "answer": "#### 4"}]
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = ", ".join(f"'{question}': '{answer}'" for question, answer in ANSWERS.items())
    project.write_config(
        models=f"dict(type='ScriptedModel', abbr='fake', answers={{{answers}}})", datasets=repr(CONFIG)
    )
    return project


@pytest.fixture
def scored(apples: Project) -> Project:
    """A project with a run that our rules have scored."""
    done = apples.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    return apples


def accuracy(project: Project) -> float:
    [row] = project.summary()
    return float(row["score"])


def test_a_run_is_scored_again_as_there(scored: Project) -> None:
    assert accuracy(scored) == 0.5
    done = scored.run("score", str(scored.folder()), "--config", "eval.py", "--peer-scores")
    assert done.returncode == 0, done.stderr
    assert accuracy(scored) == 1.0


def test_a_run_folder_alone_does_not_know_their_rules(scored: Project) -> None:
    done = scored.run("score", str(scored.folder()), "--peer-scores")
    assert done.returncode == 2
    assert "--config CONFIG" in done.stderr


def test_a_run_is_scored_as_there_at_once(apples: Project) -> None:
    done = apples.run("run", "eval.py", "--peer-scores")
    assert done.returncode == 0, done.stderr
    assert accuracy(apples) == 1.0
