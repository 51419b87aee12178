"""The shipped model: by itself, and behind a server that none of us wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import Project, read_lines
from tests.support.markdown import svg_lines
from tests.support.servers import transformers_serve
from tools.pictures import TERMINAL

pytestmark = [pytest.mark.process, pytest.mark.torch]


MODEL = Path(__file__).parents[3] / "configs" / "data" / "demo_model"
CHAT = """dict(
    abbr='talk', type='LocalDataset', path='data/demo/chat',
    reader_cfg=dict(input_columns='question', output_column='answer', test_range='[:24]'),
    infer_cfg=dict(
        ice_template=dict(type='PromptTemplate', template=dict(round=[
            dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])),
        prompt_template=dict(type='PromptTemplate', ice_token='</E>', template=dict(begin='</E>', round=[
            dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='')])),
        retriever=dict(type='FixKRetriever', fix_id_list=[0, 1], allow_overlap=True),
        inferencer=dict(type='GenInferencer', max_out_len=8),
    ),
    eval_cfg=dict(evaluator=dict(type='Gsm8kEvaluator'), pred_postprocessor=dict(type='gsm8k_postprocess')),
)"""


@pytest.mark.slow
def test_the_default_config_evaluates_the_demo_model(project: Project) -> None:
    (project.root / "eval.py").unlink()  # the shipped configs/eval.py is meant
    done = project.run("run", "configs/eval.py")
    assert done.returncode == 0, done.stderr
    rows = project.summary()
    scores = {(row["dataset"], row["model"]): row["score"] for row in rows if row["metric"] == "accuracy"}
    names = ("demo-addition", "demo-chat-sums", "demo-choice", "demo-dialogue")
    assert list(scores) == [(dataset, model) for model in ("demo-base", "demo-chat") for dataset in names]
    assert all(row["failed"] == 0 for row in rows)
    # A model that goes on with a text was not made for dialogues.
    assert scores["demo-dialogue", "demo-base"] < scores["demo-dialogue", "demo-chat"]
    assert all(0.8 <= score < 1 for score in scores.values()), scores
    # The README shows this table; another machine may give another digit. Its caption has more in a terminal.
    table = done.stdout.strip().partition("\n\n")[0]
    assert masked(table.splitlines()[1:]) <= masked(svg_lines(TERMINAL.read_text("utf-8")))


def masked(lines: list[str]) -> set[str]:
    """Lines whatever their digits and blanks."""
    return {re.sub(r"\s+", " ", re.sub(r"\d+", "0", line)).strip() for line in lines}


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server with the demo model."""
    with transformers_serve(MODEL, tmp_path_factory.mktemp("serve") / "serve.log") as address:
        yield address


@pytest.mark.slow
def test_a_server_and_the_model_itself_answer_alike(project: Project, base_url: str) -> None:
    project.write_config(
        models=f"dict(type='HuggingFaceChatModel', abbr='local', path='data/demo_model'), "
        f"dict(type='OpenAIChatModel', abbr='served', model={str(MODEL)!r}, base_url={base_url!r}, api_key=None)",
        datasets=CHAT,
    )
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    local, served = (read_lines(project.folder() / f"predictions/{abbr}/talk.jsonl") for abbr in ("local", "served"))
    assert [line["prediction"] for line in local] == [line["prediction"] for line in served]
    assert [line["origin_prompt"] for line in local] == [rendered(line["origin_prompt"]) for line in served]
    for mine, theirs in zip(local, served, strict=True):
        [here], [there] = mine["completions"], theirs["completions"]
        assert here["finish_reason"] == there["finish_reason"] == "stop"
        assert here["usage"]["prompt_tokens"] == there["usage"]["prompt_tokens"]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "echo_is_tried"), [("Chat", False), ("Completion", True)])
def test_a_server_that_knows_no_likelihoods_ends_the_run(
    project: Project, base_url: str, kind: str, echo_is_tried: bool
) -> None:
    model = f"dict(type='OpenAI{kind}Model', abbr='served', model={str(MODEL)!r}, base_url={base_url!r}, api_key=None)"
    project.write_config(models=model, datasets=CHAT.replace("GenInferencer', max_out_len=8", "PPLOnlyInferencer'"))
    done = project.run("run", "eval.py")
    assert done.returncode == 3, done.stderr
    assert (
        "the server returns no log-likelihoods of prompts (prompt_logprobs: http_422: Unexpected fields" in done.stderr
    )
    assert ("echo: no_logprobs" in done.stderr) is echo_is_tried


def test_view_prompt_needs_no_weights(project: Project) -> None:
    copy = project.root / "model"
    copy.mkdir()
    for file in MODEL.iterdir():
        if file.suffix != ".safetensors":
            (copy / file.name).write_bytes(file.read_bytes())
    project.write_config(models="dict(type='HuggingFaceChatModel', abbr='local', path='./model')", datasets=CHAT)
    [view] = json.loads(project.run("view-prompt", "eval.py", "--json").stdout)
    assert view["prompt"].startswith("<s><|im_start|>user\n")
    assert view["tokens"] > 10
    assert view["shots"] == [0, 1]


def rendered(messages: list[dict[str, Any]]) -> str:
    """Messages as the demo model's chat template writes them, said once more in other words."""
    turns = "".join(f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in messages)
    return f"<s>{turns}<|im_start|>assistant\n"
