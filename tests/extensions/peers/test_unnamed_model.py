"""A config of AISBench names no model: the server is asked which one it has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import run_cli
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

CONFIG = """
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.datasets import ARCDataset
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import ZeroRetriever
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator
from ais_bench.benchmark.utils.postprocess.text_postprocessors import first_option_postprocess

models = [dict(attr="service", type=VLLMCustomAPIChat, abbr="served", path="", model="", stream=False, request_rate=0,
               retry=2, api_key="", host_ip="127.0.0.1", host_port=PORT, url="", max_out_len=64, batch_size=2,
               trust_remote_code=False, generation_kwargs=dict(temperature=0.01, ignore_eos=False))]
datasets = [dict(abbr="arc", type=ARCDataset, path="data", name="ARC-Easy",
    reader_cfg=dict(input_columns=["question"], output_column="answerKey", train_split="Dev", test_split="Test"),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="{question}")])),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator),
                  pred_postprocessor=dict(type=first_option_postprocess, options="ABCD")))]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    choices = [{"label": letter, "text": f"text {letter}"} for letter in "ABCD"]
    rows = [{"question": {"stem": f"Which {n}?", "choices": choices}, "answerKey": "B"} for n in range(3)]
    (tmp_path / "data").mkdir()
    for split in ("Dev", "Test"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "data" / f"ARC-Easy-{split}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_the_only_model_of_the_server_is_asked(project: Path, server: MockServer) -> None:
    server.follow({"answer": "The answer is B."})
    port = server.base_url.rpartition(":")[2].partition("/")[0]
    (project / "config.py").write_text(CONFIG.replace("PORT", port), encoding="utf-8")
    assert run_cli("check", "config.py", folder=project).returncode == 0
    done = run_cli("run", "config.py", folder=project)
    assert done.returncode == 0, done.stderr
    assert {request["body"]["model"] for request in server.requests()} == {"mock"}
    [predictions] = (project / "outputs").rglob("predictions/*/arc.jsonl")
    assert len(predictions.read_text(encoding="utf-8").splitlines()) == 3
    assert "100.0 %" in done.stdout


def test_a_server_that_is_not_there_is_an_error_before_the_run(project: Path) -> None:
    (project / "config.py").write_text(CONFIG.replace("PORT", "9"), encoding="utf-8")
    failed = run_cli("run", "config.py", folder=project)
    assert failed.returncode == 3
    assert "the server does not answer" in failed.stderr
    assert not list(project.rglob("predictions"))


def test_a_judge_without_a_name_is_the_model_of_its_server(project: Path, server: MockServer) -> None:
    server.follow({"answer": "A"})
    config = f"""
models = [dict(type="ScriptedModel", abbr="m", answers={{".": "4"}})]
judge = dict(type="OpenAIChatModel", abbr="rater", model="", base_url="{server.base_url}", api_key=None)
datasets = [dict(abbr="sums", type="LocalDataset", path="sums.jsonl",
    reader_cfg=dict(input_columns=["question"], output_column="answer"),
    infer_cfg=dict(prompt_template=dict(type="PromptTemplate", template="{{question}}"),
                   inferencer=dict(type="GenInferencer")),
    eval_cfg=dict(evaluator=dict(type="GenericLLMEvaluator", judge_cfg=judge,
        prompt_template=dict(type="PromptTemplate", template="{{prediction}} {{gold}}: A or B?"))))]
"""
    (project / "judged.py").write_text(config, encoding="utf-8")
    (project / "sums.jsonl").write_text(json.dumps({"question": "2+2", "answer": "4"}) + "\n", encoding="utf-8")
    done = run_cli("run", "judged.py", "-m", "infer", folder=project)
    assert done.returncode == 0, done.stderr
    assert server.requests() == []
    done = run_cli("score", "judged", folder=project)
    assert done.returncode == 0, done.stderr
    assert {request["body"]["model"] for request in server.requests()} == {"mock"}
