"""A form of the answer that the server enforces."""

from __future__ import annotations

import json

import pytest

from tests.core.e2e.project import Project
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

DATASET = """dict(
    abbr='cities',
    path='data/cities.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='schema'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{question}'),
        inferencer=dict(type='GenInferencer', response_format={'type': 'json_object'}),
    ),
    eval_cfg=dict(
        evaluator=dict(type='JsonSchemaEvaluator'),
        pred_postprocessor=dict(type='json_postprocess'),
    ),
)"""
SCHEMA = json.dumps({"type": "object", "required": ["city"]})


def test_it_is_sent_and_the_answers_are_validated(project: Project, server: MockServer) -> None:
    server.follow({"text": "Italy", "answer": '{"city": "Rome"}'}, {"text": "Peru", "answer": "Lima"})
    rows = [{"question": f"Capital of {one}?", "schema": SCHEMA} for one in ("Italy", "Peru")]
    project.write_data(rows, "cities.jsonl")
    model = f"dict(type='OpenAIChatModel', abbr='m', model='m', base_url='{server.base_url}', api_key=None)"
    project.write_config(models=model, datasets=DATASET)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert [request["body"]["response_format"] for request in server.requests()] == 2 * [{"type": "json_object"}]
    assert "1 no answer" in done.stdout
    assert "50.0 %" in done.stdout


def test_a_server_that_ignores_it_is_noted(project: Project, server: MockServer) -> None:
    server.follow({"answer": "Lima"})
    rows = [{"question": f"Capital of {number}?", "schema": SCHEMA} for number in range(6)]
    project.write_data(rows, "cities.jsonl")
    model = f"dict(type='OpenAIChatModel', abbr='m', model='m', base_url='{server.base_url}', api_key=None)"
    project.write_config(models=model, datasets=DATASET)
    done = project.run("run", "eval.py")
    assert "[m/cities] 6 of 6 complete answers are no JSON: the server ignores response_format" in done.stderr


def test_a_local_model_has_no_server_that_enforces_it(project: Project) -> None:
    project.write_data([{"question": "x", "schema": SCHEMA}], "cities.jsonl")
    model = "dict(type='HuggingFaceChatModel', abbr='demo', path='data/demo_model')"
    project.write_config(models=model, datasets=DATASET)
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "HuggingFaceChatModel cannot send response_format" in done.stderr
