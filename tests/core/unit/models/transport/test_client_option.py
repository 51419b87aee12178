"""The ``client`` of a model: the openai package, Azure, tokens, and what is wrong with it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import OpenAIChatModel, OpenAICompletionModel, OpenAIModel, Retry
from ais_prompt.types import Completion, LikelihoodQuery, Request
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


KEY = "0123456789abcdef-azure-key"
TOKEN = "entra-token-0123456789"


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith(("OPENAI_", "AZURE_OPENAI_")):
            monkeypatch.delenv(name)


def azure(server: MockServer, kind: type[OpenAIModel] = OpenAIChatModel, **more: Any) -> OpenAIModel:
    client = {
        "type": "openai.AsyncAzureOpenAI",
        "azure_endpoint": server.base_url.removesuffix("/v1"),
        "api_version": "2024-10-21",
        **more.pop("client", {}),
    }
    return kind("gpt 4", client=client, retry=0, **more)


def ask(model: OpenAIModel, *decodings: Any) -> Completion:
    async def main() -> Completion:
        await model.open()
        try:
            return await model.complete(Request("s", "3+4=?", *(decodings or [model.decoding(None, ())])))
        finally:
            await model.aclose()

    return asyncio.run(main())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAICompletionModel])
def test_azure_with_a_key(server: MockServer, monkeypatch: pytest.MonkeyPatch, kind: Any, stream: bool) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    completion = ask(azure(server, kind, stream=stream))
    assert (completion.text, completion.failure) == ("7", None)
    assert (completion.first_token_seconds is not None) is stream
    [request] = server.requests()
    path = "chat/completions" if kind is OpenAIChatModel else "completions"
    assert request["path"] == f"/openai/deployments/gpt%204/{path}?api-version=2024-10-21"
    headers = [name.lower() for name in request["headers"]]
    assert "api-key" in headers
    assert "authorization" not in headers


def test_azure_returns_log_likelihoods(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    assert ask(azure(server, OpenAICompletionModel), LikelihoodQuery()).likelihood


@pytest.mark.parametrize("function", ["token", "token_later"])
def test_azure_with_a_token_provider(
    server: MockServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    (tmp_path / "my_tokens.py").write_text(
        f"TOKEN = {TOKEN!r}\ndef token():\n    return TOKEN\nasync def token_later():\n    return TOKEN\n"
        "def nothing():\n    return None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("token_provider", "azure_ad_token_provider"):
        assert ask(azure(server, client={name: f"my_tokens.{function}"})).text == "7"
    assert [request["authorization"] for request in server.requests()] == [True, True]
    server.follow({"status": 400, "body": {"error": "no {authorization}"}})
    failure = ask(azure(server, client={"token_provider": f"my_tokens.{function}"})).failure
    assert failure
    assert TOKEN not in failure.message
    nothing = ask(azure(server, client={"token_provider": "my_tokens.nothing"})).failure
    assert nothing
    assert nothing.kind == "unreachable"
    assert "my_tokens.nothing returned NoneType" in nothing.message


def test_azure_with_a_token_of_the_environment(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", TOKEN)
    assert ask(azure(server)).text == "7"


def test_errors_of_azure_show_the_url_that_was_asked(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    server.follow({"status": 429, "body": {"error": {"message": "slow down"}}})
    failure = ask(azure(server)).failure
    assert failure
    assert failure.kind == "http_429"
    assert failure.message.startswith("slow down (")
    assert "/openai/deployments/gpt%204/chat/completions" in failure.message


def test_a_missing_azure_key_is_an_error_before_any_work(server: MockServer) -> None:
    with pytest.raises(ModelError, match="AZURE_OPENAI_API_KEY"):
        azure(server).preflight()


def test_the_client_of_the_package_sends_organisation_and_project(
    server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = {"type": "openai", "organization": "org-1", "project": "proj-1"}
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert ask(OpenAIChatModel("mock", server.base_url + "?x=1", client=client)).text == "7"
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ask(OpenAIChatModel("mock", server.base_url, client="openai")).text == "7"
    first, second = server.requests()
    assert first["path"] == "/v1/chat/completions?x=1"
    headers = [name.lower() for name in first["headers"]]
    assert {"openai-organization", "openai-project", "authorization"} <= {*headers}
    assert not second["authorization"]


def test_retries_are_those_of_this_program(server: MockServer) -> None:
    server.follow({"status": 503, "times": 2})
    model = OpenAIChatModel("mock", server.base_url, client="openai", retry=2)
    model.retry = Retry(2, first_wait=0.01)
    completion = ask(model)
    assert (completion.text, completion.attempts) == ("7", 3)
    server.follow({"status": 503})
    assert ask(OpenAIChatModel("mock", server.base_url, client="openai", retry=0)).failure
    assert server.stats()["requests"] == 1


@pytest.mark.parametrize(
    ("client", "words"),
    [
        ("openai.OpenAI", "write openai.AsyncOpenAI"),
        ("openai.AzureOpenAI", "write openai.AsyncAzureOpenAI"),
        ("openai.AsyncOpenAy", "AsyncOpenAI"),
        ({"type": "openai", "organisation": "x"}, "organization"),
        ({"type": "openai", "api_key": "sk-secret"}, "api_key"),
        ({"type": "openai", "max_retries": 3}, "retry"),
        ({"type": "openai", "token_provider": "eyJhbGciOi.e30.c2lnbmF0dXJl-_"}, "token_provider"),
        ({"type": "openai.AsyncAzureOpenAI", "azure_endpoint": "http://127.0.0.1:1", "azure_ad_token": "x"}, "token"),
        ({"type": "aiohttp", "timeout": 3}, "timeout"),
    ],
)
def test_wrong_clients_are_refused(client: Any, words: str) -> None:
    with pytest.raises((ConfigError, ModelError)) as caught:
        OpenAIChatModel("m", "http://127.0.0.1:1/v1", api_key=None, client=client).preflight()
    shown = " ".join(caught.value.lines())
    assert words in shown
    assert "sk-secret" not in shown
    assert "c2lnbmF0dXJl" not in shown


def test_azure_needs_a_version(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with pytest.raises(ModelError, match="api_version"):
        ask(azure(server, client={"api_version": None}))


@pytest.mark.parametrize(
    ("base_url", "hint"), [("", "want /v1 at its end"), ("/v1/chat/completions", "must end before")]
)
def test_a_wrong_path_has_a_hint(server: MockServer, base_url: str, hint: str) -> None:
    failure = ask(OpenAIChatModel("m", server.base_url.removesuffix("/v1") + base_url)).failure
    assert failure
    assert failure.kind == "http_404"
    assert hint in failure.message


def test_an_exception_of_a_transport_is_a_failure_of_one_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_transport.py").write_text(
        "class Broken:\n"
        "    def __init__(self, server): pass\n"
        "    async def send(self, method, path, body, sink): raise KeyError('oops')\n"
        "    async def close(self): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    model = OpenAIChatModel("m", "http://127.0.0.1:1/v1", client="broken_transport.Broken", retry=0)
    failure = ask(model).failure
    assert failure
    assert "KeyError" in failure.message
