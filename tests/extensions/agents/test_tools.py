"""Tools of a user's own, called by the model in a loop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.agents.tool_loop import run_tool, tools_of
from ais_prompt.extensions.agents.trajectory import called_tools
from ais_prompt.types import Prediction
from tests.extensions.agents import own_tools
from tests.support.cli import run_cli
from tests.support.servers import ROOT

CONFIG = """
models = [dict(type='ScriptedModel', abbr='model', answers={answers!r}, max_concurrency=1)]
datasets = [dict(type='LocalDataset', abbr='tasks', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
        inferencer=dict(type='ToolLoopInferencer', tools={tools!r}, **{options!r})),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def write(folder: Path, questions: Sequence[str], answers: Mapping[str, Any], tools: list[Any], **options: Any) -> None:
    (folder / "config.py").write_text(CONFIG.format(answers=dict(answers), tools=tools, options=options), "utf-8")
    rows = [{"question": question, "answer": "done"} for question in questions]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "own_tools.py").write_text(Path(own_tools.__file__).read_text("utf-8"), "utf-8")


def predictions(folder: Path) -> dict[str, Prediction]:
    [path] = folder.glob("out/**/predictions/model/tasks.jsonl")
    found = [Prediction.from_json(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    return {str(one.origin_prompt[0].content): one for one in found}  # type: ignore[union-attr]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def test_the_schema_comes_from_signature_and_docstring() -> None:
    [tool] = tools_of([own_tools.add])
    assert tool.description == "Add two numbers.\n\nThe result is exact."
    assert tool.schema["required"] == ["a"]
    properties = tool.schema["properties"]
    assert properties["a"]["type"] == "integer"
    assert properties["a"]["description"] == "the first number, however large."
    assert properties["b"]["default"] == 1
    assert tool.line() == "add(a, b)"


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        (own_tools.find, '{"place": {"row": 2}, "words": ["a"]}', '{"row":2,"words":["a"]}'),
        (own_tools.find, '{"place": {"row": "x"}, "words": ["a"]}', "valid integer"),
        (own_tools.find, "{}", "Missing required argument"),
        (own_tools.breaks, '{"path": "x"}', "there is no x"),
        (own_tools.odd, "{}", "error"),
        (own_tools.breaks, "path=x", "no JSON"),
        (own_tools.breaks, "[1]", "no JSON object"),
    ],
)
def test_whatever_a_tool_does_is_a_result_that_the_model_sees(tool: Any, arguments: str, result: str) -> None:
    [made] = tools_of([tool])
    found = run_tool(made, arguments, 10)
    assert found.failure is None
    assert result in found.text


def test_a_tool_that_hangs_is_a_failure() -> None:
    [made] = tools_of([own_tools.hangs])
    found = run_tool(made, "{}", 0.05)
    assert found.failure is not None
    assert (found.failure.kind, found.failure.message) == ("tool_timeout", "hangs returned nothing within 0.05 s")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([own_tools.not_json], "'not_json' cannot be written as JSON"),
        ([own_tools.no_names], "takes arguments without names"),
        ([lambda a: a], "a name that APIs do not take"),
        ([own_tools.add, own_tools.add], "two tools are named 'add'"),
        ([7], "this is no tool: 7"),
        ([{"mcp": 7}], "this is no MCP server: 7"),
        (["tests.extensions.agents.own_tools:nothing"], "nothing"),
    ],
)
def test_what_is_no_tool_is_one_clear_error(given: list[Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        tools_of(given)


@pytest.mark.thorough
@pytest.mark.process
def test_the_model_calls_tools_until_it_answers(tmp_path: Path) -> None:
    answers = {
        r"(?s)the sum\n5$": "done",
        "the sum": {"text": "I add.", **call("add", a=2, b=3)},
        r"(?s)a fault.*there is no x": "done",
        "a fault": call("breaks", path="x"),
        r"(?s)unknown.*the tools are add, breaks, hangs": "done",
        "unknown": call("nothing"),
        "no end": call("add", a=1),
        "hanging": call("hangs"),
    }
    tools = ["own_tools:add", "own_tools:breaks", {"function": "own_tools:hangs"}]
    questions = ["the sum", "a fault", "unknown", "no end", "hanging"]
    write(tmp_path, questions, answers, tools, max_steps=4, timeout=1.0)
    done = run_cli("run", "config.py", "-w", "out", folder=tmp_path)
    assert "Traceback" not in done.stderr
    found = predictions(tmp_path)
    assert [found[question].prediction for question in questions] == ["done", "done", "done", None, None]
    [called] = called_tools(found["the sum"].completions[0].trajectory)
    assert called == ("add", {"a": 2, "b": 3}, "5", 0)
    failures = [found[question].completions[0].failure for question in questions[3:]]
    assert [failure.kind for failure in failures if failure] == ["agent_limit", "tool_timeout"]
    assert len(found["no end"].completions[0].trajectory) == 4
    shown = run_cli("view-prompt", "config.py", folder=tmp_path)
    assert "tools: add(a, b); breaks(path); hangs()" in shown.stdout


@pytest.mark.thorough
@pytest.mark.process
def test_a_resumed_run_repeats_no_call_and_says_which_was_cut_off(tmp_path: Path) -> None:
    answers = {
        r"(?s)first\n5$": "done",
        "first": call("add", a=2, b=3),
        r"(?s)second\n6\nsurvived": "done",
        r"(?s)second\n6$": call("dies", a=1),
        "second": call("add", a=3, b=3),
    }
    write(tmp_path, ["first", "second"], answers, ["own_tools:add", "own_tools:dies"], n=1)
    command = [sys.executable, "-m", "ais_prompt", "run", "config.py", "-w", "out"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    for resumed in ([], ["-r"]):
        subprocess.run([*command, *resumed], cwd=tmp_path, env=variables, capture_output=True, check=False)
    calls = (tmp_path / "calls.txt").read_text().splitlines()
    assert sorted(calls) == ["add 2 3", "add 3 3", "dies 1"]
    found = predictions(tmp_path)
    assert found["first"].prediction == "done"
    failure = found["second"].completions[0].failure
    assert failure is not None
    assert failure.kind == "tool_cut_off"
    assert 'dies was called with {"a":1}' in failure.message
    harmless = "{'function': 'own_tools:dies', 'effects': False}"
    config = (tmp_path / "config.py").read_text().replace("'own_tools:dies'", harmless)
    (tmp_path / "config.py").write_text(config)
    subprocess.run([*command, "-r"], cwd=tmp_path, env=variables, capture_output=True, check=False)
    assert predictions(tmp_path)["second"].prediction == "done"
    assert (tmp_path / "calls.txt").read_text().splitlines().count("add 3 3") == 1


@pytest.mark.thorough
@pytest.mark.process
def test_an_mcp_server_brings_its_tools_and_ends_with_the_run(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    answers = {r"(?s)the sum\n5$": "done", "the sum": call("add", a=2, b=3)}
    write(tmp_path, ["the sum"], answers, [{"mcp": [sys.executable, "own_tools.py"], "only": ["add"]}])
    done = run_cli("run", "config.py", "-w", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert predictions(tmp_path)["the sum"].prediction == "done"
    assert (tmp_path / "calls.txt").read_text() == "add 2 3\n"
    missing = [{"mcp": [str(tmp_path / "no-such-server")]}]
    write(tmp_path, ["the sum"], answers, missing)
    done = run_cli("run", "config.py", "-w", "out2", folder=tmp_path)
    assert "the MCP server" in done.stderr
    assert "does not start" in done.stderr
