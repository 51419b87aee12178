"""Choosing by likelihood through a server, by the real program: the same as in this process, or a clear refusal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.project import Project, read_lines
from tests.servers import ROOT, MockServer, mock_server
from tools.mock_scoring import LetterModel

SERVED = """
from mmengine.config import read_base

with read_base():
    from .{kind} import models as local

models = [
    dict(type='{type}', abbr='served', model='demo', base_url='{url}', meta_template=local[0].get('meta_template'))
]
"""
DIALOGUE = """
from mmengine.config import read_base

with read_base():
    from .demo_choice import datasets as choice

datasets = [
    dict(
        choice[0],
        abbr='dialogue-choice',
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template={
                    label: dict(
                        round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt=f'{{{label}}}')]
                    )
                    for label in ['A', 'B', 'C', 'D']
                },
            ),
            retriever=dict(type='ZeroRetriever'),
            inferencer=dict(type='PPLInferencer'),
        ),
    )
]
"""
CHOICE = """dict(
    abbr='sums', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template={'4': '{question} is 4', '6': '{question} is so'}),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='PPLInferencer'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""


@pytest.fixture(scope="module")
def demo_server() -> Iterator[MockServer]:
    with mock_server(model=ROOT / "configs" / "data" / "demo_model") as running:
        yield running


@pytest.fixture(scope="module")
def server() -> Iterator[MockServer]:
    with mock_server() as running:
        yield running


def lay_out(project: Project, url: str, kind: str, model_type: str) -> None:
    """Configs of the same model served and in this process, and of the demo's choices as dialogues."""
    for name, folder in [(kind, "models/demo"), ("demo_choice", "datasets/demo")]:
        target = project.root / "configs" / folder.partition("/")[0] / f"{name}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((ROOT / "configs" / folder / f"{name}.py").read_text())
    models, datasets = project.root / "configs" / "models", project.root / "configs" / "datasets"
    (models / "served.py").write_text(SERVED.format(kind=kind, type=model_type, url=url))
    (datasets / "dialogue_choice.py").write_text(DIALOGUE)


@pytest.mark.parametrize(
    ("kind", "model_type", "dataset", "samples"),
    [
        ("demo_base", "OpenAICompletionModel", "demo_choice", 30),
        ("demo_chat", "OpenAIChatModel", "dialogue_choice", 10),
    ],
)
def test_a_served_model_chooses_as_it_does_in_this_process(
    project: Project, demo_server: MockServer, kind: str, model_type: str, dataset: str, samples: int
) -> None:
    demo_server.follow()
    lay_out(project, demo_server.base_url, kind, model_type)
    names = ["--models", kind, "served", "--datasets", dataset, "--num-prompts", str(samples)]
    done = project.run("run", *names, "-w", str(project.root / "out"))
    assert done.returncode == 0, done.stderr
    served, local = (read_predictions(project.root, abbr, dataset) for abbr in ("served", kind))
    assert len(served) == len(local) == samples
    assert [line["prediction"] for line in served] == [line["prediction"] for line in local]
    for one, other in zip(served, local, strict=True):
        for label in "ABCD":
            for value in ("ppl", "nll", "tokens"):
                assert one["labels"][label][value] == pytest.approx(other["labels"][label][value], rel=1e-5)


def read_predictions(root: Path, model: str, dataset: str) -> list[dict[str, Any]]:
    [file] = (root / "out").rglob(f"predictions/{model}/{dataset}.jsonl".replace("_", "-"))
    return read_lines(file)


def use(project: Project, server: MockServer, kind: str = "Completion") -> None:
    model = f"dict(type='OpenAI{kind}Model', abbr='fake', model='mock', base_url={server.base_url!r}, retry=0)"
    project.write_config(models=model, datasets=CHOICE)


def test_the_numbers_are_those_of_the_server_and_are_not_asked_twice(project: Project, server: MockServer) -> None:
    server.follow()
    use(project, server)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    lines = project.predictions()
    for line in lines:
        for found in line["labels"].values():
            tokens = LetterModel().read(found["prompt"])
            assert found["nll"] == pytest.approx(-math.fsum(token.log_prob or 0.0 for token in tokens))
            assert found["tokens"] == len(tokens) - 1
    assert server.stats()["requests"] == 1 + 2 * len(lines)
    again = project.run("run", "eval.py", "-r")
    assert again.returncode == 0, again.stderr
    assert server.stats()["requests"] == 1 + 2 * len(lines)


@pytest.mark.parametrize("kind", ["Completion", "Chat"])
def test_a_server_that_cannot_score_ends_the_run_before_the_first_sample(
    project: Project, server: MockServer, kind: str
) -> None:
    server.follow({"ignore": ["echo", "prompt_logprobs"]})
    use(project, server, kind)
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "the server does not tell how likely a prompt is" in done.stderr
    assert "mend:" in done.stderr
    assert "Traceback" not in done.stderr
    assert project.journal() == []


def test_a_text_that_the_server_cannot_score_is_a_failed_sample(project: Project, server: MockServer) -> None:
    entries = [None, {"7": {"logprob": -9999.0}}]
    server.follow({"text": "3+3=? is so", "body": {"choices": [{"prompt_logprobs": entries}]}})
    use(project, server)
    done = project.run("run", "eval.py")
    assert done.returncode == 1, done.stderr
    assert [line["prediction"] is None for line in project.predictions()] == [number == 3 for number in range(8)]
    [row] = project.summary()
    assert (row["scored"], row["failed"]) == (7, 1)
