"""Functions and servers as agents, and local models behind the proxy."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.agents.asked_model import LocalModel
from ais_prompt.extensions.agents.command_model import CommandModel
from ais_prompt.extensions.agents.proxied import translate
from ais_prompt.types import ChatMessage, Completion, Decoding, Prediction, Request
from tests.support.cli import run_cli

pytestmark = [pytest.mark.process, pytest.mark.thorough]
CONFIG = """
wrong = dict(failure='http_401', message='no key', fatal=True)
model = dict(type='ScriptedModel', answers={{'raise': wrong}}, default='yes')
models = [dict({agent}, abbr='agent', model=model)]
datasets = [dict(type='LocalDataset', abbr='tasks', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
        inferencer=dict(type='GenInferencer', n={n})),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""
OWN = """
import asyncio, openai
def client(endpoint):
    return openai.OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0)
def answer(question, endpoint):
    if question == "broken":
        raise ValueError("I am broken")
    messages = [{"role": "user", "content": question}]
    return client(endpoint).chat.completions.create(model="m", messages=messages).choices[0].message.content
async def wait(question, endpoint):
    async with openai.AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key) as client:
        reply = await client.responses.create(model="m", input=question)
    await asyncio.sleep(600 if question == "hangs" else 0)
    return reply.output_text
"""


def ask(folder: Path, agent: str, questions: Sequence[str], n: int = 1) -> tuple[Any, dict[str, Prediction]]:
    (folder / "own.py").write_text(OWN, "utf-8")
    (folder / "config.py").write_text(CONFIG.format(agent=agent, n=n), "utf-8")
    rows = [{"question": question, "answer": "yes"} for question in questions]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = run_cli("run", "config.py", "-w", "out", folder=folder)
    found = {}
    for path in folder.glob("out/**/predictions/agent/tasks.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            prediction = Prediction.from_json(json.loads(line))
            found[str(prediction.origin_prompt)] = prediction
    return done, found


@pytest.mark.parametrize("kind", ["type='FunctionAgentModel'", "type='FunctionModel', proxy=True"])
def test_a_function_is_an_agent_and_fails_alone(tmp_path: Path, kind: str) -> None:
    done, found = ask(tmp_path, f"{kind}, function='own.answer'", ["a", "broken", "b"])
    assert [found[one].prediction for one in ("a", "broken", "b")] == ["yes", None, "yes"]
    failure = found["broken"].completions[0].failure
    assert failure is not None
    assert "I am broken" in failure.message
    assert "own.py:7" in failure.where
    assert "Traceback" not in done.stderr


def test_what_an_agent_asks_is_known_only_when_it_runs(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN, "utf-8")
    (tmp_path / "rows.jsonl").write_text('{"question": "a", "answer": "yes"}\n' * 3, "utf-8")
    agent = "type='FunctionAgentModel', function='own.answer', price=dict(input=1e6, output=1)"
    (tmp_path / "config.py").write_text(CONFIG.format(agent=agent, n=2), "utf-8")
    checked = " ".join(run_cli("check", "config.py", folder=tmp_path).stdout.split())
    assert "3 questions, at least 6 requests, at least 6 tokens in, at least 6.00" in checked
    assert "what an agent asks is known only when it runs" in checked
    [found] = json.loads(run_cli("check", "config.py", "--json", folder=tmp_path).stdout)["estimates"]
    assert (found["requests"], found["is_least"]) == (6, True)


def test_only_a_function_with_a_proxy_is_an_agent() -> None:
    models = [
        {"type": "FunctionModel", "proxy": False, "function": "own.f"},
        {"type": "OpenAIChatModel", "proxy": "http://p"},
    ]
    values, notes = translate({"models": models}, {}, foreign_summary=False, folder=None, place=str)
    assert values == {"models": [{"type": "FunctionModel", "function": "own.f"}, models[1]]}
    assert notes == ()


def test_a_coroutine_is_cancelled_at_its_limit_and_keeps_its_steps(tmp_path: Path) -> None:
    _, found = ask(tmp_path, "type='FunctionAgentModel', function='own.wait', timeout=1.5", ["a", "hangs"], n=2)
    assert found["a"].prediction == ["yes", "yes"]
    assert [len(one.trajectory) for one in found["a"].completions] == [1, 1]
    first, second = found["hangs"].completions
    assert first.failure is not None
    assert first.failure.message == "timeout=1.5: the agent did not end, after 1 request"
    assert [len(one.trajectory) for one in (first, second)] == [1, 1]


def test_a_wrong_key_of_the_model_ends_the_task(tmp_path: Path) -> None:
    done, _ = ask(tmp_path, "type='FunctionAgentModel', function='own.answer', max_concurrency=1", ["raise", "a"])
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("every request would fail: http_401: no key") == 1


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("type='FunctionAgentModel', function='own.missing'", "module 'own' has no 'missing'"),
        ("type='CommandModel', command='my-agent'", "'command' of CommandModel"),
        ("type='CommandModel', command=['cat'], answer='xml'", "there is no answer 'xml'"),
        ("type='CommandModel', command=['cat'], max_steps=0", "max_steps"),
        ("type='CommandModel', command=['cat'], steps=3", "'steps'"),
    ],
)
def test_a_wrong_agent_is_one_clear_error(tmp_path: Path, agent: str, words: str) -> None:
    done, found = ask(tmp_path, agent, ["a"])
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("ConfigError") == 1
    assert not found


@pytest.mark.parametrize(
    ("model", "words"),
    [({}, "has no type"), ({"type": "NoModel"}, "NoModel"), ({"type": "OpenAICompletionModel", "model": "m"}, "chat")],
)
def test_a_model_that_cannot_be_asked_is_one_clear_error(model: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        CommandModel(["cat"], model)
    assert caught.value.where.startswith("model")


class Handler(BaseHTTPRequestHandler):
    """The server of an agent: it asks the proxy, whose address it knows, and sends the header of the question on."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        proxy = urlsplit(self.headers["X-Aisprompt-Proxy"])
        headers = {"X-Aisprompt-Sample": self.headers["X-Aisprompt-Sample"], "Authorization": "Bearer fixed"}
        connection = http.client.HTTPConnection(proxy.netloc)
        asked = json.dumps({"model": "m", "messages": body["messages"]})
        connection.request("POST", "/v1/chat/completions", asked, headers)
        said = json.loads(connection.getresponse().read())["choices"][0]["message"]["content"]
        status = 500 if body["question"] == "fails" else 200
        content = json.dumps({"answer": said}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Be silent."""


@pytest.fixture
def agent_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/ask"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_server_of_an_agent_says_which_sample_it_asks_for(tmp_path: Path, agent_url: str) -> None:
    _, found = ask(tmp_path, f"type='ServerAgentModel', url={agent_url!r}", ["a", "b", "fails"])
    assert [found[one].prediction for one in ("a", "b", "fails")] == ["yes", "yes", None]
    for question in ("a", "b", "fails"):
        [call] = found[question].completions[0].trajectory
        assert call.messages[0]["content"] == question
    failure = found["fails"].completions[0].failure
    assert failure is not None
    assert failure.kind == "http_500"


class Batches:
    """A local model that notes its batches."""

    prompt_style = "messages"
    max_out_len = 10
    batch_size = 4

    def __init__(self) -> None:
        self.batches: list[int] = []

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        return Decoding(max_out_len or 10, stop=tuple(stop))

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        self.batches.append(len(requests))
        text = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
        return [Completion(text, "stop") for _ in requests]


def test_requests_that_wait_for_a_local_model_become_a_batch() -> None:
    inner: Any = Batches()
    model = LocalModel(inner, "hermes")
    requests = [Request(f"{n}", (ChatMessage("user", "go"),), Decoding(5, extra={"tools": []})) for n in range(6)]

    async def test() -> list[Completion]:
        return await asyncio.gather(*map(model.complete, requests))

    found = asyncio.run(test())
    assert [call.name for one in found for call in one.tool_calls] == ["add"] * 6
    assert sum(inner.batches) == 6
    assert max(inner.batches) == 4


def test_the_server_of_the_asked_model_is_started_by_the_run() -> None:
    started: list[Any] = []
    agent = CommandModel(["cat"], {"type": "OpenAIChatModel", "model": "m", "server": "vllm"})
    assert agent.server is not None
    agent.asked.start_with = lambda servers, name: started.append((servers, name))  # type: ignore[attr-defined]
    servers: Any = object()
    agent.start_with(servers, "agent")
    assert started == [(servers, "agent")]
    assert CommandModel(["cat"], {"type": "ScriptedModel"}).server is None
