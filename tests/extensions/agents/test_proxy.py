"""The proxy of agents, asked by the clients that agents use: the openai package, and our own three APIs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import openai
import pytest

from ais_prompt.extensions.agents.heard import READERS, BadRequest, read_chat, read_messages, read_responses
from ais_prompt.extensions.agents.proxy import Proxy
from ais_prompt.extensions.agents.sample_session import AgentEndpoint, AgentSession, SampleLimits
from ais_prompt.models import ScriptedModel
from ais_prompt.models.api.chat import CHAT
from ais_prompt.models.api.messages import MESSAGES
from ais_prompt.models.api.responses import RESPONSES
from ais_prompt.models.model_options import Wire
from ais_prompt.types import ChatMessage, Completion, Decoding, Price, Request, ToolCall, Usage, requests_of
from ais_prompt.utils import call_messages

TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}},
}
SCRIPT = {
    "sum": {"text": "I add.", "tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
    "busy": {"failure": "http_503", "message": "too busy"},
    "capital": "Paris",
}
pytestmark = pytest.mark.process


class Asker:
    """Asks a scripted model, and counts."""

    price = Price(1.0, 2.0)
    row: Mapping[str, Any] = {}

    def __init__(self, model: ScriptedModel) -> None:
        self.requests: list[Request] = []
        self._model = model

    async def __call__(self, request: Request) -> Completion:
        self.requests.append(request)
        return await self._model.complete(request)


class Stage:
    """A proxy with one session."""

    def __init__(self, session: AgentSession, endpoint: AgentEndpoint, asker: Asker, proxy: Proxy) -> None:
        self.session, self.endpoint, self.asker, self.proxy = session, endpoint, asker, proxy

    def client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(base_url=self.endpoint.base_url, api_key=self.endpoint.api_key)


@asynccontextmanager
async def staged(limits: SampleLimits | None = None, **script: Any) -> AsyncIterator[Stage]:
    model = ScriptedModel({**SCRIPT, **script})
    asker, proxy = Asker(model), Proxy(model, "scripted")
    await proxy.start()
    request = Request("id1", "question", Decoding(10))
    session = AgentSession(request, asker, model, limits or SampleLimits(), asyncio.Semaphore(4))
    try:
        yield Stage(session, proxy.enter(session), asker, proxy)
    finally:
        await session.close()
        await proxy.close()


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def test_the_openai_package_gets_answers_calls_and_streams() -> None:
    async def test() -> None:
        async with staged() as stage, stage.client() as client:
            asked: Any = {"model": "any", "messages": [{"role": "user", "content": "the sum"}], "tools": [TOOL]}
            whole = await client.chat.completions.create(**asked)
            [call] = whole.choices[0].message.tool_calls or []
            assert (call.function.name, json.loads(call.function.arguments)) == ("add", {"a": 2, "b": 3})
            assert whole.choices[0].finish_reason == "tool_calls"
            assert whole.usage is not None
            assert whole.usage.prompt_tokens == 2
            text = ""
            async with client.chat.completions.stream(**asked) as stream:
                async for event in stream:
                    text += event.delta if event.type == "content.delta" else ""
                streamed = (await stream.get_final_completion()).choices[0].message
            assert text == "I add."
            assert streamed.tool_calls is not None
            assert streamed.tool_calls[0].function.arguments == call.function.arguments
            response = await client.responses.create(model="any", input="the capital", instructions="Be brief.")
            assert response.output_text == "Paris"
            names = [one.id async for one in client.models.list()]
            assert names == ["scripted"]
            assert stage.session.steps == 3

    run(test)


@pytest.mark.parametrize("api", [CHAT, RESPONSES, MESSAGES], ids=lambda api: api.path)
@pytest.mark.parametrize("stream", [False, True])
def test_each_api_gives_the_same_answer_whole_and_streamed(api: Any, stream: bool) -> None:
    """Our own clients read what the proxy writes, and what they write comes out as it was meant."""
    history = (
        *call_messages("", [ToolCall("add", '{"a":1}')], ["1"], 0),
        *call_messages("One.", [ToolCall("add", '{"a":2}'), ToolCall("add", '{"a":3}')], ["2", "3"], 1),
    )
    prompt = (ChatMessage("system", "Add."), ChatMessage("user", "the sum"), *history)

    async def test() -> None:
        async with staged() as stage, aiohttp.ClientSession() as client:
            request = Request("id1", prompt, Decoding(77, 0.5, 0.9, extra={"tools": [TOOL]}))
            body = api.body("any", request, Wire())
            body |= api.stream_fields if stream else {}
            headers = {"Authorization": f"Bearer {stage.endpoint.api_key}"}
            async with client.post(f"{stage.endpoint.base_url}/{api.path}", json=body, headers=headers) as reply:
                assert reply.status == 200
                content = await reply.text()
            if stream:
                reader = api.reader()
                reader.feed(content.encode())
                found = reader.completion()
            else:
                found = api.answer(json.loads(content))
            assert (found.text, found.finish_reason) == ("I add.", "tool_calls")
            assert found.tool_calls == (ToolCall("add", '{"a":2,"b":3}'),)
            [asked] = stage.asker.requests
            assert asked.prompt == prompt
            assert asked.decoding == Decoding(77, 0.5, 0.9, extra=asked.decoding.extra)  # type: ignore[union-attr]
            [tool] = asked.decoding.extra["tools"]  # type: ignore[union-attr]
            assert tool["function"]["name"] == "add"

    run(test)


def test_failures_are_errors_of_the_api_which_clients_do_not_repeat() -> None:
    async def test() -> None:
        async with staged() as stage, stage.client() as client:
            with pytest.raises(openai.InternalServerError, match="too busy"):
                await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "busy"}])
            assert len(stage.asker.requests) == 1
            headers = {"x-api-key": stage.endpoint.api_key}
            body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "busy"}]}
            status, found = await post(f"{stage.endpoint.anthropic_base_url}/v1/messages", body, headers)
            assert (status, found["type"], found["error"]["message"]) == (503, "error", "too busy")

    run(test)


def test_a_request_needs_the_token_of_a_sample_and_a_known_path() -> None:
    async def test() -> None:
        async with staged() as stage:
            url, key = stage.endpoint.base_url, {"Authorization": f"Bearer {stage.endpoint.api_key}"}
            for headers in ({}, {"Authorization": "Bearer sk-other"}):
                status, found = await post(f"{url}/chat/completions", {}, headers)
                assert status == 401
                assert "token" in found["error"]["message"]
            status, found = await post(f"{url}/embeddings", {}, key)
            assert status == 404
            assert "/v1/chat/completions" in found["error"]["message"]
            status, found = await post(f"{stage.endpoint.anthropic_base_url}/v1/messages/count_tokens", WORDS, key)
            assert found["input_tokens"] > 0
            stage.proxy.leave(stage.session)
            status, found = await post(f"{url}/chat/completions", WORDS, key)
            assert status == 401
            assert "ends with it" in found["error"]["message"]
            stage.proxy.enter(stage.session)
            assert not stage.asker.requests

    run(test)


WORDS = {"model": "m", "messages": [{"role": "user", "content": "the capital"}]}


async def post(url: str, body: Any, headers: Mapping[str, str]) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as client, client.post(url, json=body, headers=headers) as reply:
        return reply.status, await reply.json()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (SampleLimits(max_steps=2), "max_steps=2"),
        (SampleLimits(max_tokens_total=5), "max_tokens_total=5"),
        (SampleLimits(max_cost=5e-6), "max_cost=5e-06"),
    ],
)
def test_a_limit_ends_the_sample_and_is_its_failure(limits: SampleLimits, words: str) -> None:
    async def test() -> None:
        async with staged(limits) as stage, stage.client() as client:
            asked: Any = {"model": "m", "messages": WORDS["messages"]}
            for _ in range(2):
                await client.chat.completions.create(**asked)
            with pytest.raises(openai.PermissionDeniedError, match=words):
                await client.chat.completions.create(**asked)
            assert stage.session.over.result().message.startswith(words)
            assert len(stage.asker.requests) == 2

    run(test)


def test_equal_requests_are_told_apart_and_the_trajectory_holds_whole_requests() -> None:
    async def test() -> None:
        async with staged() as stage, stage.client() as client:
            for text in ("the capital", "the capital", "the sum"):
                await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
            assert [one.turn for one in stage.asker.requests] == [0, 1, 0]
            assert [one.step for one in stage.asker.requests] == [0, 1, 2]
            found = stage.session.with_steps(Completion("done", "stop"))
            assert [one.shared for one in found.trajectory] == [0, 1, 0]
            messages = [messages for messages, _ in requests_of(found.trajectory)]
            assert messages == [
                [{"role": "user", "content": text}] for text in ("the capital", "the capital", "the sum")
            ]
            assert found.usage == Usage(6, 4)
            assert Completion.from_json(found.to_json()) == found

    run(test)


@pytest.mark.parametrize(
    ("api", "body", "words"),
    [
        ("chat", {"messages": []}, "empty"),
        ("chat", {**WORDS, "n": 2}, "one choice"),
        ("chat", {**WORDS, "functions": [{}]}, "tools"),
        ("chat", {**WORDS, "max_tokens": "many"}, "max_tokens"),
        ("chat", {"messages": [{"role": "tool", "tool_call_id": "x", "content": "5"}]}, "no call before"),
        ("chat", {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "input_audio"),
        ("responses", {"input": "a", "previous_response_id": "r"}, "keeps no conversations"),
        ("responses", {"input": "a", "tools": [{"type": "web_search"}]}, "web_search"),
        ("responses", {"input": [{"type": "computer_call"}]}, "computer_call"),
        ("messages", {"messages": "hello"}, "a list of objects"),
    ],
)
def test_what_the_proxy_cannot_do_is_one_clear_error(api: str, body: Mapping[str, Any], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        READERS[api](body)


def test_an_address_or_a_file_that_an_agent_names_is_a_text() -> None:
    for url in ("http://127.0.0.1:1/secret.png", "file:///etc/passwd", "/etc/passwd"):
        chat = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]
        assert read_chat({"messages": chat}).messages[0].content == f"[image: {url}]"
        parts = [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]
        assert read_responses({"input": parts}).messages[0].content == f"[image: {url}]"
        blocks = [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": url}}]}]
        assert read_messages({"messages": blocks}).messages[0].content == f"[image: {url}]"
    kept = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]
    assert read_chat({"messages": kept}).messages[0].content == tuple(kept[0]["content"])
