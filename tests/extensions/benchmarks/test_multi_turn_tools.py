"""Conversations in which the model calls tools, with the results that the data has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.e2e.project import Project, read_lines
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


def tool(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


TOOLS = [tool("weather_get", city={"type": "string"}), tool("book", city={"type": "string"})]
DATASET = """dict(
    abbr='trips',
    path='data/trips.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column=None),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt='{question}')])),
        inferencer=dict(type='MultiTurnToolCallInferencer', MORE),
    ),
    eval_cfg=dict(
        evaluator=dict(type='ToolCallEvaluator'), pred_postprocessor=dict(type='tool_calls_postprocess'),
    ),
)"""
SCRIPT = r"""dict(type='ScriptedModel', abbr='m', answers={
    r'Oslo\?\n.*12 degrees': dict(tool_calls=[dict(name='book', arguments={'city': 'Oslo'})]),
    'Thanks': 'You are welcome.',
    'Bonn': dict(tool_calls=[dict(name='weather_get', arguments={'city': 'Rome'})]),
    'Lima': dict(failure='http_500', message='down'),
    'Oslo': dict(text='I look.', tool_calls=[dict(name='weather_get', arguments={'city': 'Oslo'})]),
})"""


def row(city: str) -> dict[str, Any]:
    turns = [
        {"answers": [{"weather.get": {"city": [city]}}], "results": ["12 degrees"]},
        {"answers": [{"book": {"city": [city]}}], "results": [{"booked": city}]},
        {"user": "Thanks!"},
    ]
    return {"question": f"Is it warm in {city}?", "tools": json.dumps(TOOLS), "turns": json.dumps(turns)}


@pytest.mark.parametrize("template", ["'{question}'", "dict(round=[dict(role='HUMAN', prompt='{question}')])"])
@pytest.mark.parametrize("column", ["None", "'turns'"])
def test_any_template_and_output_column_ask_a_chat_model(project: Project, template: str, column: str) -> None:
    dataset = DATASET.replace("dict(round=[dict(role='HUMAN', prompt='{question}')])", template)
    dataset = dataset.replace("output_column=None", f"output_column={column}")
    project.write_config(models=SCRIPT, datasets=dataset.replace("MORE", ""))
    checked = project.run("check", "eval.py")
    assert checked.returncode == 0, checked.stderr
    project.run("run", "eval.py")
    scores = {one["metric"]: one["score"] for one in project.summary()}
    assert scores == {"accuracy": pytest.approx(2 / 3), "dialogue_accuracy": 0.5}


@pytest.fixture
def project(project: Project) -> Project:
    project.write_data([row("Oslo"), row("Bonn"), row("Lima")], "trips.jsonl")
    project.write_config(models=SCRIPT, datasets=DATASET.replace("MORE", ""))
    return project


def test_each_turn_follows_the_calls_of_the_model_and_is_scored(project: Project) -> None:
    done = project.run("run", "eval.py", "--max-failures", "1")
    assert done.returncode == 0, done.stderr
    scores = {one["metric"]: one["score"] for one in project.summary()}
    assert scores == {"accuracy": pytest.approx(2 / 3), "dialogue_accuracy": 0.5}
    details = json.loads((project.folder() / "results" / "m" / "trips.json").read_text())["details"]
    assert [one["status"] for one in details] == ["scored", "scored", "failed"]
    first, second, failed = read_lines(project.folder() / "predictions" / "m" / "trips.jsonl")
    assert first["prediction"][1:] == ['[{"name": "book", "arguments": {"city": "Oslo"}}]', "[]"]
    assert [message["role"] for message in first["origin_prompt"][2]] == [
        *("user", "assistant", "tool", "assistant", "tool", "user"),
    ]
    # The result of the second call, which the data does not expect in this turn, is an error.
    assert "no result of this call is known" in json.dumps(second["origin_prompt"][2])
    assert failed["prediction"] == [None, None, None]
    assert failed["failed_turn"] == 1


def test_a_session_goes_on_where_it_stopped(project: Project) -> None:
    project.run("run", "eval.py")
    before = len(project.journal("m", "trips"))
    assert project.run("run", "eval.py", "-r", "--max-failures", "1").returncode == 0
    assert len(project.journal("m", "trips")) == before + 1  # the request that failed


def test_view_prompt_and_lock_show_the_expected_calls(project: Project) -> None:
    shown = project.run("view-prompt", "eval.py", "-c", "1")
    assert "turn 2, tools: weather_get, book, expected calls in place of the model's" in shown.stdout
    assert 'calls weather_get {"city": "Oslo"}' in shown.stdout
    assert "12 degrees" in shown.stdout
    assert project.run("lock", "eval.py").returncode == 0
    assert project.run("lock", "eval.py", "--check").returncode == 0
    project.write_data([json.loads(json.dumps(row("Oslo")).replace("12 degrees", "13 degrees"))], "trips.jsonl")
    assert project.run("lock", "eval.py", "--check").returncode != 0


ARGUMENTS = '{"city": "Oslo"}'
AS_MESSAGES = {
    "OpenAIChatModel": [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "call00000", "type": "function", "function": {"name": "weather_get", "arguments": ARGUMENTS}}
            ],
        },
        {"role": "tool", "tool_call_id": "call00000", "content": "12 degrees"},
    ],
    "OpenAIResponsesModel": [
        {"type": "function_call", "call_id": "call00000", "name": "weather_get", "arguments": ARGUMENTS},
        {"type": "function_call_output", "call_id": "call00000", "output": "12 degrees"},
    ],
    "AnthropicModel": [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call00000", "name": "weather_get", "input": {"city": "Oslo"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call00000", "content": "12 degrees"}]},
    ],
}
"""Model → the first call and its result as its API has them."""


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", AS_MESSAGES)
def test_a_server_gets_calls_and_results_as_messages(
    project: Project, server: MockServer, kind: str, stream: bool
) -> None:
    def call(name: str) -> dict[str, Any]:
        return {"text": "Oslo", "tool_calls": [{"name": name, "arguments": ARGUMENTS}], "times": 1}

    server.follow(call("weather_get"), call("book"), {"text": "Thanks", "answer": "You are welcome."})
    project.write_data([row("Oslo")], "trips.jsonl")
    model = f"""dict(type='{kind}', abbr='m', model='m', base_url='{server.base_url}', api_key=None, stream={stream})"""
    project.write_config(models=model, datasets=DATASET.replace("MORE", "tool_choice='auto'"))
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert {one["metric"]: one["score"] for one in project.summary()} == {"accuracy": 1, "dialogue_accuracy": 1}
    asked = [request["body"] for request in server.requests()]
    assert [len(body["tools"]) for body in asked] == [2, 2, 2]
    sent = asked[-1]["input" if kind == "OpenAIResponsesModel" else "messages"]
    assert sent[1:3] == AS_MESSAGES[kind]
    assert "Thanks!" in json.dumps(sent[-1])


def test_parallel_calls_get_their_own_results_in_any_order(project: Project) -> None:
    cities = ("Oslo", "Bonn")
    turns = [
        {"answers": [{"weather_get": {"city": [city]}} for city in cities], "results": [f"in {one}" for one in cities]},
        {},
    ]
    both = {"question": "Where is it warm?", "tools": json.dumps(TOOLS), "turns": json.dumps(turns)}
    project.write_data([both], "trips.jsonl")
    calls = [{"name": "weather_get", "arguments": {"city": city}} for city in reversed(cities)]
    model = f"dict(type='ScriptedModel', abbr='m', answers={{'in Bonn': 'Oslo.', 'warm': dict(tool_calls={calls})}})"
    project.write_config(models=model, datasets=DATASET.replace("MORE", ""))
    assert project.run("run", "eval.py").returncode == 0
    assert {one["metric"]: one["score"] for one in project.summary()} == {"accuracy": 1, "dialogue_accuracy": 1}
    [stored] = read_lines(project.folder() / "predictions" / "m" / "trips.jsonl")
    results = [message["content"][0]["text"] for message in stored["origin_prompt"][1] if message["role"] == "tool"]
    assert results == ["in Bonn", "in Oslo"]


def test_a_local_model_gets_calls_and_results_through_its_chat_template(project: Project, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = tmp_path / "model"
    demo = Path(__file__).parents[3] / "configs/data/demo_model"
    folder.mkdir()
    for file in demo.iterdir():
        if not file.name.startswith(("token", "chat_template")):
            (folder / file.name).symlink_to(file)
    tokenizer = AutoTokenizer.from_pretrained(demo)
    tokenizer.chat_template = (
        "{% for message in messages %}<{{ message.role }}>{{ message.content }}"
        "{% for call in message.tool_calls or [] %}CALL {{ call.function.name }} {{ call.function.arguments.city }}"
        "{% endfor %}{% endfor %}"
    )
    tokenizer.save_pretrained(folder)
    project.write_data([row("Oslo")], "trips.jsonl")
    model = f"dict(type='HuggingFaceChatModel', abbr='m', path='{folder}')"
    project.write_config(models=model, datasets=DATASET.replace("MORE", "parser='hermes'"))
    shown = project.run("view-prompt", "eval.py", "-c", "1")
    assert shown.returncode == 0, shown.stderr
    assert "<user>Is it warm in Oslo?<assistant>CALL weather_get Oslo<tool>12 degrees" in shown.stdout


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ("{", "the column 'turns' holds no turns"),
        ("[1]", "the column 'turns' holds no turns"),
        ("[]", "the column 'turns' has no turn"),
        ('[{"answers": [{"f": {}}], "results": ["a", "b"]}]', "2 results for 1 answer"),
        ('[{"answers": [{"f": {}, "g": {}}]}]', "the column 'turns' holds no turns"),
        ('[{"answers": [{"f": 3}]}]', "the parameters of 'f' are no mapping"),
    ],
)
def test_turns_that_are_none(project: Project, turns: str, message: str) -> None:
    project.write_data([{**row("Oslo"), "turns": turns}], "trips.jsonl")
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert message in done.stderr


def test_a_missing_column_and_a_model_of_texts(project: Project) -> None:
    project.write_config(models=SCRIPT, datasets=DATASET.replace("MORE", "turns='turn'"))
    assert "there is no column 'turn' with turns" in project.run("check", "eval.py").stderr
    text = SCRIPT.replace("abbr='m'", "abbr='m', prompt_style='text'")
    project.write_config(models=text, datasets=DATASET.replace("MORE", ""))
    assert "this model takes a text" in project.run("check", "eval.py").stderr
