"""Models behind the Responses API and the Messages API, against a real server on this machine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models import (
    AnthropicModel,
    ApiModel,
    AsyncModel,
    BatchModel,
    Limits,
    OpenAIChatModel,
    OpenAICompletionModel,
    OpenAIResponsesModel,
    Retry,
    Sampling,
    error_of_messages,
)
from ais_prompt.plan import served_model
from ais_prompt.secrets import SECRETS
from ais_prompt.types import ChatMessage, Completion, LikelihoodQuery, Prompt, Request, Usage
from tests.support.servers import MockServer

pytestmark = pytest.mark.process

BOTH = [OpenAIResponsesModel, AnthropicModel]
QUESTION: Prompt = (ChatMessage("system", "Be brief."), ChatMessage("user", "3+4=?"))
KEY = "sk-live-0123456789abcdef0123456789"


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def model_at(server: MockServer, kind: type[ApiModel], **arguments: Any) -> ApiModel:
    retry = Retry(arguments.pop("retries", 2), first_wait=0.01)
    return kind("mock", arguments.pop("base_url", server.base_url), retry=retry, **arguments)


def ask(model: ApiModel, prompt: Prompt = QUESTION, **decoding: Any) -> Completion:
    async def asked() -> Completion:
        await model.open()
        try:
            return await model.complete(Request("s", prompt, model.decoding(None, decoding.get("stop", ()))))
        finally:
            await model.aclose()

    return asyncio.run(asked())


def test_they_are_async_models() -> None:
    for kind in BOTH:
        model = kind("m")
        assert isinstance(model, AsyncModel)
        assert not isinstance(model, BatchModel)
        assert model.prompt_style == "messages"


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_is_answered(server: MockServer, stream: bool) -> None:
    server.follow({"reasoning": "three and four"})
    model = model_at(server, OpenAIResponsesModel, stream=stream, generation_kwargs={"reasoning_effort": "low"})
    completion = ask(model)
    assert (completion.text, completion.finish_reason, completion.reasoning) == ("7", "stop", "three and four")
    assert completion.usage == Usage(3, 4, reasoning_tokens=3, cached_tokens=0, cache_write_tokens=0)
    assert (completion.first_token_seconds is not None) is stream
    [request] = server.requests()
    assert request["path"] == "/v1/responses"
    assert request["body"] == {
        "model": "mock",
        "input": [
            {"type": "message", "role": "system", "content": "Be brief."},
            {"type": "message", "role": "user", "content": "3+4=?"},
        ],
        "max_output_tokens": 256,
        "store": False,
        "temperature": 0.0,
        "reasoning": {"effort": "low"},
        "stream": stream,
    }


@pytest.mark.parametrize("stream", [False, True])
def test_a_message_is_answered(server: MockServer, stream: bool) -> None:
    server.follow({"reasoning": "three and four"})
    completion = ask(model_at(server, AnthropicModel, stream=stream, max_out_len=99, stop_words=["Q:", "\n"]))
    assert (completion.text, completion.finish_reason, completion.reasoning) == ("7", "stop", "three and four")
    assert completion.usage == Usage(3, 4, reasoning_tokens=3, cached_tokens=0, cache_write_tokens=0)
    assert (completion.first_token_seconds is not None) is stream
    [request] = server.requests()
    assert request["path"] == "/v1/messages"
    assert request["body"] == {
        "model": "mock",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "3+4=?"}],
        "max_tokens": 99,
        "stop_sequences": ["Q:"],
        **({"stream": True} if stream else {}),
    }


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("reason", ["length", "stop"])
def test_a_truncated_answer_says_so(server: MockServer, kind: type[ApiModel], reason: str) -> None:
    server.follow({"finish_reason": reason})
    assert ask(model_at(server, kind)).finish_reason == reason


@pytest.mark.parametrize("kind", BOTH)
def test_answers_end_before_stop_texts_that_are_not_sent(server: MockServer, kind: type[ApiModel]) -> None:
    server.follow({"answer": "seven\nQ: 8"})
    completion = ask(model_at(server, kind), stop=("\n",))
    assert (completion.text, completion.finish_reason) == ("seven", "stop")


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "rule",
    [
        {"status": 500, "body": {"error": {"message": "oops"}}},
        {"status": 529, "body": error_of_messages("Overloaded", "overloaded_error")},
        {"status": 429, "headers": {"Retry-After": "0.01"}, "body": {"error": {"message": "slow down"}}},
        {
            "status": 529,
            "headers": {"Retry-After": "0.01"},
            "body": error_of_messages("Overloaded", "overloaded_error"),
        },
        {"drop": "before"},
        {"raw": "<html>"},
    ],
)
def test_temporary_failures_are_retried(
    server: MockServer, kind: type[ApiModel], stream: bool, rule: dict[str, Any]
) -> None:
    server.follow({**rule, "times": 2})
    completion = ask(model_at(server, kind, stream=stream))
    assert (completion.text, completion.attempts) == ("7", 3)


@pytest.mark.parametrize("kind", BOTH)
def test_a_wrong_key_ends_the_task(server: MockServer, kind: type[ApiModel]) -> None:
    server.follow({"status": 401, "body": error_of_messages("invalid x-api-key", "authentication_error")})
    failure = ask(model_at(server, kind)).failure
    assert failure
    assert (failure.kind, failure.fatal) == ("http_401", True)
    assert "invalid x-api-key" in failure.message


@pytest.mark.parametrize("kind", BOTH)
def test_a_key_is_sent_and_never_shown(
    server: MockServer, kind: type[ApiModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kind.defaults.key_variable, KEY)
    monkeypatch.setenv("MY_TENANT", "tenant-0123456789")
    server.follow({"status": 400, "body": {"error": {"message": "bad {request}"}}})
    failure = ask(model_at(server, kind, headers={"X-Tenant": "$MY_TENANT"})).failure
    assert failure
    assert "X-Tenant" in failure.message
    assert KEY not in failure.message
    assert "tenant-0123456789" not in failure.message
    [request] = server.requests()
    names = {name.lower() for name in request["headers"]}
    if kind is AnthropicModel:
        assert {"x-api-key", "anthropic-version"} <= names
        assert "authorization" not in names
    else:
        assert "authorization" in names
        assert not {"x-api-key", "anthropic-version"} & names


def test_a_version_of_the_config_takes_the_place_of_the_own_one(server: MockServer) -> None:
    server.follow({"status": 400, "body": {"error": {"message": "{request}"}}})
    failure = ask(model_at(server, AnthropicModel, headers={"Anthropic-Version": "2099-01-01"})).failure
    assert failure
    assert "2099-01-01" in failure.message.replace("***", "2099-01-01")
    assert "2023-06-01" not in failure.message


def test_addresses_with_and_without_a_version(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    root = server.base_url.removesuffix("/v1")
    for address in (root, f"{root}/", f"{root}/v1", f"{root}/v1/", f"{root}?tenant=1"):
        server.follow()
        assert ask(model_at(server, AnthropicModel, base_url=address)).text == "7"
    assert server.requests()[0]["path"] == "/v1/messages?tenant=1"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", root)
    assert AnthropicModel("m").address == server.base_url


def test_keys_and_addresses_come_from_the_provider() -> None:
    model = AnthropicModel("m")
    assert (model.address, model.api_key) == ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
    assert AnthropicModel("m", provider="anthropic").address == model.address
    assert OpenAIResponsesModel("m", provider="openai").api_key == "OPENAI_API_KEY"
    assert OpenAIChatModel("m", provider="anthropic").api_key == "ANTHROPIC_API_KEY"
    assert served_model(["anthropic"], "m") == {"type": "AnthropicModel", "model": "m", "provider": "anthropic"}
    with pytest.raises(ConfigError, match="no address of the Messages API is known for the provider 'groq'"):
        AnthropicModel("m", provider="groq")


def test_a_missing_key_is_an_error_before_any_work() -> None:
    for kind in BOTH:
        with pytest.raises(ModelError, match=f"{kind.defaults.key_variable} is not set"):
            kind("m").preflight()


def test_the_only_model_of_a_server_is_found(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server.follow()
    model = AnthropicModel("", server.base_url)
    model.preflight()
    assert server.requests() == []
    assert (model.only_model(), model.model) == ("mock", "")


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_tokens_field": "max_completion_tokens"}, "has no max_tokens_field"),
        ({"logprobs_via": "echo"}, "has no logprobs_via"),
        ({"seed": 1}, "has no seed"),
        ({"generation_kwargs": {"max_tokens": 5}}, "must not hold 'max_tokens'"),
        ({"generation_kwargs": {"system": "x"}}, "must not hold 'system'"),
    ],
)
def test_options_that_the_api_does_not_have_are_refused(
    kind: type[ApiModel], arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        kind("m", **arguments)


def test_the_client_of_the_other_vendor_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot log in to the Messages API"):
        AnthropicModel("m", client="openai")


def test_no_temperature_is_sent_to_the_messages_api_unless_set() -> None:
    assert AnthropicModel("m").sampling.temperature is None
    assert AnthropicModel("m", sampling={"max_out_len": 5}).sampling.temperature is None
    assert AnthropicModel("m", generation_kwargs={"temperature": 0.5, "top_k": 3}).sampling == Sampling(
        temperature=0.5, extra={"top_k": 3}
    )
    assert AnthropicModel("m", sampling=Sampling(temperature=0.0)).sampling.temperature == 0.0


@pytest.mark.parametrize("kind", BOTH)
def test_log_likelihoods_are_refused(server: MockServer, kind: type[ApiModel]) -> None:
    async def asked() -> None:
        model = model_at(server, kind)
        await model.open()
        try:
            await model.complete(Request("s", "a b", LikelihoodQuery()))
        finally:
            await model.aclose()

    with pytest.raises(ModelError, match="no log-likelihoods"):
        asyncio.run(asked())


@pytest.mark.parametrize(
    ("kind", "path", "words"),
    [
        (OpenAIChatModel, "/v1/messages", "must end before /messages, and only AnthropicModel speaks to it"),
        (OpenAIResponsesModel, "/v1/chat/completions", "before /chat/completions, and only OpenAIChatModel"),
        (OpenAICompletionModel, "/v1/responses", "before /responses, and only OpenAIResponsesModel"),
        (OpenAIResponsesModel, "/v1/responses", "base_url must end before /responses)"),
        (OpenAIResponsesModel, "/v2", "may not have Responses"),
        (OpenAIResponsesModel, "", "base_url has no path, most servers want /v1"),
        (AnthropicModel, "/openai", "may not have Messages"),
    ],
)
def test_a_wrong_endpoint_is_explained(server: MockServer, kind: type[ApiModel], path: str, words: str) -> None:
    server.follow()
    failure = ask(model_at(server, kind, base_url=server.base_url.removesuffix("/v1") + path), "2+2").failure
    assert failure
    assert failure.kind == "http_404"
    assert words in failure.message


@pytest.mark.parametrize(
    ("kind", "reply", "words"),
    [
        (OpenAIChatModel, {"type": "message", "content": []}, "one that AnthropicModel reads"),
        (OpenAIResponsesModel, {"choices": []}, "one that OpenAIChatModel reads"),
        (AnthropicModel, {"object": "response", "output": []}, "one that OpenAIResponsesModel reads"),
    ],
)
def test_a_reply_of_another_api_is_explained(
    server: MockServer, kind: type[ApiModel], reply: dict[str, Any], words: str
) -> None:
    server.follow({"body": reply})
    failure = ask(model_at(server, kind, retries=0)).failure
    assert failure
    assert failure.kind == "bad_body"
    assert words in failure.message


async def token() -> str:
    """A token provider."""
    return "token-0123456789abcdef"


def test_token_providers_and_azure_work_for_responses(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.follow()
    provider = f"{__name__}.token"
    completion = ask(model_at(server, OpenAIResponsesModel, client={"type": "openai", "token_provider": provider}))
    assert completion.text == "7"
    assert server.requests()[0]["authorization"]
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    azure = {
        "type": "openai.AsyncAzureOpenAI",
        "azure_endpoint": server.base_url.removesuffix("/v1"),
        "api_version": "2025-04-01-preview",
    }
    assert ask(OpenAIResponsesModel("mock", client=azure)).text == "7"
    assert server.requests()[1]["path"] == "/openai/responses?api-version=2025-04-01-preview"


def test_limits_and_retries_are_those_of_all_models(server: MockServer) -> None:
    server.follow({"latency": 5.0})
    limits = Limits(timeout=0.2)
    for kind in BOTH:
        failure = ask(model_at(server, kind, limits=limits, retries=0)).failure
        assert failure
        assert failure.kind == "timeout"


@pytest.mark.parametrize("kind", [*BOTH, OpenAIChatModel, OpenAICompletionModel])
def test_fields_of_the_body_are_sent_with_their_variables_and_do_not_count_for_the_answer(
    server: MockServer, monkeypatch: pytest.MonkeyPatch, kind: type[ApiModel]
) -> None:
    monkeypatch.setenv("MY_TEAM_ID", "team-of-the-blue-house")
    fields = {"user": "$MY_TEAM_ID", "metadata": {"paths": ["runs/${MY_TEAM_ID}", 3]}}
    model = model_at(server, kind, body_fields=fields)
    plain = model_at(server, kind)
    prompt: Prompt = "3+4=?" if kind is OpenAICompletionModel else QUESTION
    assert ask(model, prompt).failure is None
    [request] = server.requests()
    assert request["body"]["user"] == "team-of-the-blue-house"
    assert request["body"]["metadata"] == {"paths": ["runs/team-of-the-blue-house", 3]}
    assert model.identity() == plain.identity()
    assert model.decoding(None, ()) == plain.decoding(None, ())
    assert SECRETS.hide("bill team-of-the-blue-house for it") == "bill *** for it"


def test_a_field_of_the_body_whose_variable_is_not_set_is_found_before_the_first_request(server: MockServer) -> None:
    model = model_at(server, OpenAIChatModel, body_fields={"user": "$NO_SUCH_TEAM"})
    with pytest.raises(ModelError, match="NO_SUCH_TEAM is not set, and the field user of body_fields names it"):
        model.preflight()
    assert server.requests() == []


@pytest.mark.parametrize(
    ("field", "sampling", "what"),
    [
        ("messages", {}, "prompts come from the dataset"),
        ("temperature", {}, "an option of sampling"),
        ("top_k", {"top_k": 3}, "an option of sampling"),
        ("set", {}, "cannot be sent as JSON"),
    ],
)
def test_options_are_no_fields_of_the_body(field: str, sampling: dict[str, Any], what: str) -> None:
    value = {1} if field == "set" else 1
    with pytest.raises(ConfigError, match=what):
        OpenAIChatModel("m", generation_kwargs=sampling, body_fields={field: value})
