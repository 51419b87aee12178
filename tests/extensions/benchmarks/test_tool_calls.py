"""Tools are offered, and what the model calls is shown, stored and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import Project
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

TOOL = {
    "type": "function",
    "function": {
        "name": "weather_get",
        "description": "Weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
FUNCTION_OF_TOOL: dict[str, Any] = TOOL["function"]  # type: ignore[assignment]
FUNCTION = {
    "name": "weather.get",
    "parameters": {"type": "dict", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
DATASET = """dict(
    abbr='weather',
    path='data/weather.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column=None, gold_columns=['functions', 'answers']),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt='{question}')])),
        inferencer=dict(type='ToolCallInferencer', tool_choice='auto', MORE),
    ),
    eval_cfg=dict(
        evaluator=dict(type='ToolCallEvaluator'),
        pred_postprocessor=dict(type='tool_calls_postprocess'),
    ),
)"""
CITIES = ("Oslo", "Bonn", "Rome", "Lima")


def rows() -> list[dict[str, Any]]:
    return [
        {
            "question": f"Weather in {city}?",
            "tools": json.dumps([TOOL]),
            "functions": json.dumps([FUNCTION]),
            "answers": json.dumps([{"weather.get": {"city": [city]}}]),
        }
        for city in CITIES
    ]


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data(rows(), "weather.jsonl")
    return project


def predictions(project: Project) -> list[dict[str, Any]]:
    [file] = (project.root / "outputs").rglob("predictions/**/weather.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


SENT = {
    "OpenAIChatModel": [TOOL],
    "OpenAIResponsesModel": [{**FUNCTION_OF_TOOL, "type": "function", "strict": False}],
    "AnthropicModel": [
        {"name": "weather_get", "description": "Weather.", "input_schema": FUNCTION_OF_TOOL["parameters"]}
    ],
}
"""Model → the tools as its API has them."""


def served(kind: str, server: MockServer, **more: Any) -> str:
    """A model of this class behind the mock server."""
    fields = {"type": kind, "abbr": "m", "model": "m", "base_url": server.base_url, "api_key": None, **more}
    return f"dict({', '.join(f'{name}={value!r}' for name, value in fields.items())})"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", SENT)
def test_a_server_is_offered_tools_and_its_calls_are_compared(
    project: Project, server: MockServer, kind: str, stream: bool
) -> None:
    def call(city: str, *arguments: str) -> dict[str, Any]:
        return {"text": city, "tool_calls": [{"name": "weather_get", "arguments": given} for given in arguments]}

    server.follow(
        call("Oslo", '{"city": "Oslo"}') | {"answer": "I look it up."},
        call("Bonn", '{"city": "Bonn"}', '{"city": "Rome"}'),
        call("Rome", '{"city": '),
        {"text": "Lima"},
    )
    project.write_config(models=served(kind, server, stream=stream), datasets=DATASET.replace("MORE", ""))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "25.0 %" in done.stdout
    assert "1 no answer" in done.stdout
    for request in server.requests():
        assert request["body"]["tools"] == SENT[kind]
        assert request["body"]["tool_choice"] == ({"type": "auto"} if kind == "AnthropicModel" else "auto")
    stored = {row["index"]: row for row in predictions(project)}
    assert stored[0]["prediction"] == '[{"name": "weather_get", "arguments": {"city": "Oslo"}}]'
    assert stored[0]["completions"][0]["text"] == "I look it up."
    [called] = stored[0]["completions"][0]["tool_calls"]
    assert (called["name"], json.loads(called["arguments"])) == ("weather_get", {"city": "Oslo"})
    assert [json.loads(one["arguments"])["city"] for one in stored[1]["completions"][0]["tool_calls"]] == [
        "Bonn",
        "Rome",
    ]
    assert stored[2]["completions"][0]["tool_calls"] == [{"name": "weather_get", "arguments": '{"city": '}]
    assert stored[3]["prediction"] == "[]"


@pytest.mark.parametrize("kind", SENT)
def test_odd_calls_cost_their_sample_only(project: Project, server: MockServer, kind: str) -> None:
    def call(city: str, arguments: str, name: str = "weather_get") -> dict[str, Any]:
        return {"text": city, "tool_calls": [{"name": name, "arguments": arguments}]}

    odd = {
        "Oslo": call("Oslo", '{"city": "Rome", "city": "Oslo"}'),  # the last one counts
        "Bonn": call("Bonn", '{"city": "Bonn"}', name="weather_guess"),
        "Rome": call("Rome", '{"city": ' * 2000 + "1" + "}" * 2000),
        "Lima": call("Lima", f'{{"city": {"9" * 400}}}'),
    }
    server.follow(*odd.values())
    project.write_config(models=served(kind, server, stream=True), datasets=DATASET.replace("MORE", ""))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "25.0 %" in done.stdout
    assert "1 no answer" in done.stdout


def test_other_tools_are_another_request(project: Project, server: MockServer) -> None:
    model = f"dict(type='OpenAIChatModel', abbr='m', model='m', base_url='{server.base_url}', api_key=None)"
    project.write_config(models=model, datasets=DATASET.replace("MORE", ""))
    assert project.run("run", "eval.py", "--cache", "cache").returncode == 0
    assert project.run("run", "eval.py", "--cache", "cache").returncode == 0
    assert len(server.requests()) == len(CITIES)
    changed = [{**row, "tools": json.dumps([{**TOOL, "strict": True}])} for row in rows()]
    project.write_data(changed, "weather.jsonl")
    assert project.run("run", "eval.py", "--cache", "cache").returncode == 0
    assert len(server.requests()) == 2 * len(CITIES)


def test_a_scripted_model_calls_tools_and_view_prompt_names_them(project: Project) -> None:
    model = """dict(type='ScriptedModel', abbr='m', default=dict(text='No.'), answers={
        'Oslo': dict(tool_calls=[dict(name='weather_get', arguments={'city': 'Oslo'})]),
        'Bonn': '<tool_call>{"name": "weather_get", "arguments": {"city": "Bonn"}}</tool_call>',
        'Rome': '<tool_call>weather_get(Rome)</tool_call>'})"""
    project.write_config(models=model, datasets=DATASET.replace("MORE", "parser='hermes'"))
    shown = project.run("view-prompt", "eval.py", "-c", "1")
    assert "tools: weather_get" in shown.stdout
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "50.0 %" in done.stdout
    assert "1 no answer" in done.stdout


@pytest.mark.parametrize(
    ("column", "message"),
    [("[1]", "this is no tool: 1"), ("{", "the column 'tools' is no JSON"), ('"x"', "tools are str, not a list")],
)
def test_tools_that_are_none(project: Project, column: str, message: str) -> None:
    project.write_data([{**row, "tools": column} for row in rows()], "weather.jsonl")
    project.write_config(models="dict(type='ScriptedModel', abbr='m')", datasets=DATASET.replace("MORE", ""))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert message in done.stderr


def test_a_wrong_parser(project: Project) -> None:
    datasets = DATASET.replace("MORE", "parser='xml'")
    project.write_config(models="dict(type='ScriptedModel', abbr='m')", datasets=datasets)
    assert "'hermes', 'qwen', 'llama3' or 'mistral'" in project.run("check", "eval.py").stderr


def test_a_model_that_cannot_be_offered_tools(project: Project) -> None:
    model = "dict(type='FunctionModel', abbr='m', function='builtins.str')"
    project.write_config(models=model, datasets=DATASET.replace("MORE", ""))
    assert "FunctionModel cannot send tools" in project.run("check", "eval.py").stderr


def test_a_local_model_gets_tools_through_its_chat_template(project: Project, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = tmp_path / "model"
    demo = Path(__file__).parents[3] / "configs/data/demo_model"
    folder.mkdir()
    for file in demo.iterdir():
        (folder / file.name).symlink_to(file)
    tokenizer = AutoTokenizer.from_pretrained(demo)
    tokenizer.chat_template = (
        "{% if tools %}TOOLS{% for tool in tools %} {{ tool.function.name }}{% endfor %}\n{% endif %}"
        "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    )
    for file in folder.glob("token*"):
        file.unlink()
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    tokenizer.save_pretrained(folder)
    model = f"dict(type='HuggingFaceChatModel', abbr='m', path='{folder}')"
    project.write_config(models=model, datasets=DATASET.replace("MORE", "parser='hermes'"))
    shown = project.run("view-prompt", "eval.py", "-c", "1")
    assert shown.returncode == 0, shown.stderr
    assert "TOOLS weather_get" in shown.stdout
