"""Log-likelihoods from a server over real sockets; the server's model counts letters."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, ModelError, PromptError
from ais_prompt.models import PROBE, REMEMBERED, OpenAIChatModel, OpenAICompletionModel, OpenAIModel, Retry
from ais_prompt.testing.scoring import LetterModel
from ais_prompt.types import (
    ChatMessage,
    Completion,
    Failure,
    Likelihood,
    LikelihoodQuery,
    Prompt,
    Request,
    ServerFailure,
)
from tests.support.servers import ROOT, MockServer

pytestmark = pytest.mark.process


KEY = "sk-proj-0123456789abcdefABCDEF"
LETTERS = LetterModel()
WAYS = ("echo", "prompt_logprobs")
NEITHER = {"ignore": ["echo", "prompt_logprobs"]}
MESSAGES = (ChatMessage("user", "Is it so?"), ChatMessage("assistant", "It is so: A"))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def completions(server: MockServer, **arguments: Any) -> OpenAIModel:
    return in_a_hurry(OpenAICompletionModel("mock", server.base_url, **arguments))


def chat(server: MockServer, **arguments: Any) -> OpenAIModel:
    return in_a_hurry(OpenAIChatModel("mock", server.base_url, **arguments))


def in_a_hurry(model: OpenAIModel) -> OpenAIModel:
    model.retry = Retry(model.retry.retries, first_wait=0.01)
    return model


async def asked(model: OpenAIModel, *texts: tuple[Prompt, LikelihoodQuery]) -> list[Completion]:
    await model.open()
    try:
        return await asyncio.gather(*(model.complete(Request("s", *text)) for text in texts))
    finally:
        await model.aclose()


def score(model: OpenAIModel, prompt: Prompt, **scoring: Any) -> Completion:
    [completion] = asyncio.run(asked(model, (prompt, LikelihoodQuery(**scoring))))
    return completion


def likelihood(model: OpenAIModel, prompt: Prompt, **scoring: Any) -> Likelihood:
    completion = score(model, prompt, **scoring)
    assert completion.failure is None
    assert completion.likelihood is not None
    return completion.likelihood


def failure(model: OpenAIModel, prompt: Prompt, **scoring: Any) -> Failure:
    completion = score(model, prompt, **scoring)
    assert completion.likelihood is None
    assert completion.failure is not None
    return completion.failure


def nll(text: str, after: int = 1) -> float:
    """Of the tokens from number ``after`` on, as the model itself says."""
    return -math.fsum(token.log_prob or 0.0 for token in LETTERS.read(text)[after:])


def sent(server: MockServer) -> list[dict[str, Any]]:
    """The bodies after the probe."""
    return [request["body"] for request in server.requests() if request["body"].get("prompt") != PROBE]


@pytest.mark.parametrize("via", WAYS)
def test_a_whole_text(server: MockServer, via: Any) -> None:
    started = time.monotonic()
    completion = score(completions(server, logprobs_via=via), "Is it so? Ça va.")
    # The first token, "Is", has no likelihood, and its two bytes do not count.
    assert completion.likelihood == Likelihood(pytest.approx(nll("Is it so? Ça va.")), 6, 7, 15)
    assert (completion.usage.prompt_tokens, completion.finish_reason, completion.attempts) == (7, "stop", 1)
    assert 0 < completion.seconds <= time.monotonic() - started


@pytest.mark.parametrize("via", WAYS)
def test_a_continuation(server: MockServer, via: Any) -> None:
    found = likelihood(completions(server, logprobs_via=via), "Is it", continuation=" so?")
    assert found == Likelihood(pytest.approx(nll("Is it so?", 2)), 2, 2, 4)
    merged = likelihood(completions(server, logprobs_via=via), "Is it ", continuation="so?")
    assert merged == Likelihood(pytest.approx(nll("Is it so?", 2)), 2, 2, 3, merged=True)
    alone = likelihood(completions(server, logprobs_via=via), "", continuation="Is it so?")
    assert alone == Likelihood(pytest.approx(nll("Is it so?")), 3, 3, 7)  # without "Is", which has no likelihood


def test_a_prompt_is_requested_once_for_all_its_continuations(server: MockServer) -> None:
    async def one_after_the_other(model: OpenAIModel, prompts: list[str]) -> list[Completion]:
        await model.open()
        try:
            return [await model.complete(Request("s", prompt, LikelihoodQuery(" so"))) for prompt in prompts]
        finally:
            await model.aclose()

    asyncio.run(one_after_the_other(completions(server), ["Is it"] * 3))
    assert [body["prompt"] for body in sent(server)] == ["Is it", *["Is it so"] * 3]
    many = [f"Is it {number}" for number in range(REMEMBERED + 2)]
    found = asyncio.run(one_after_the_other(completions(server), [*many, many[-1], many[0]]))
    assert {completion.likelihood.tokens for completion in found if completion.likelihood} == {1}
    asked_alone = [body["prompt"] for body in sent(server)[4:] if body["prompt"] in many]
    assert asked_alone == [*many, many[0]]


def test_replicas_compute_what_one_server_does(server: MockServer, second_server: MockServer) -> None:
    texts = [(f"It is {number} ", LikelihoodQuery("so")) for number in range(12)]
    alone = asyncio.run(asked(completions(server), *texts))
    model = OpenAICompletionModel("mock", [server.base_url, second_server.base_url])
    together = asyncio.run(asked(model, *texts))
    assert [answer.likelihood for answer in together] == [answer.likelihood for answer in alone]
    assert {answer.replica for answer in together} == {server.base_url, second_server.base_url}


@pytest.mark.parametrize("via", WAYS)
def test_a_text_without_tokens_is_not_sent(server: MockServer, via: Any) -> None:
    model = completions(server, logprobs_via=via)
    for prompt, scoring in [("", LikelihoodQuery()), ("Is", LikelihoodQuery("")), ("", LikelihoodQuery(""))]:
        [completion] = asyncio.run(asked(model, (prompt, scoring)))
        assert completion.failure is not None
        assert completion.failure.kind == "no_tokens"
    assert sent(server) == []
    assert failure(model, "Is").kind == "no_tokens"


def test_the_way_is_found_once(server: MockServer) -> None:
    texts = [(f"Is it {number}?", LikelihoodQuery()) for number in range(8)]
    found = asyncio.run(asked(completions(server), *texts))
    assert [answer.likelihood.nll for answer in found if answer.likelihood] == [
        pytest.approx(nll(text)) for text, _ in texts
    ]
    bodies = [request["body"] for request in server.requests()]
    assert [body["prompt"] for body in bodies[:1]] == [PROBE]
    assert len(bodies) == 9
    assert all(body["prompt_logprobs"] == 0 and body["temperature"] == 0.0 for body in bodies)


def test_nothing_is_tried_without_a_log_likelihood_query(server: MockServer) -> None:
    model = completions(server)
    [completion] = asyncio.run(generated(model, "1+2=?"))
    assert completion.text == "3"
    assert server.stats()["requests"] == 1


async def generated(model: OpenAIModel, *prompts: str) -> list[Completion]:
    await model.open()
    try:
        return [await model.complete(Request("s", prompt, model.decoding(None, ()))) for prompt in prompts]
    finally:
        await model.aclose()


@pytest.mark.parametrize(
    "rule",
    [
        {"ignore": ["prompt_logprobs"]},
        {"asks": "prompt_logprobs", "status": 400, "body": {"error": {"message": "unknown field"}}},
        {"asks": "prompt_logprobs", "status": 500, "body": {"error": {"message": "crash"}}},
    ],
)
def test_the_second_way_is_tried_after_the_first(server: MockServer, rule: dict[str, Any]) -> None:
    server.follow(rule)
    found = likelihood(completions(server, retry=1), "Is it so?")
    assert found.nll == pytest.approx(nll("Is it so?"))
    assert all(body["echo"] and body["logprobs"] == 1 for body in sent(server))


def test_a_server_without_log_likelihoods_is_found_before_the_first_text(server: MockServer) -> None:
    server.follow(
        {"asks": "prompt_logprobs", "status": 400, "body": {"error": {"message": "{authorization}?"}}}, NEITHER
    )
    with pytest.raises(ModelError, match="returns no log-likelihoods of prompts") as raised:
        score(completions(server), "Is it so?")
    assert "prompt_logprobs: http_400: Bearer ***?" in str(raised.value)
    assert "echo: no_logprobs: the answer does not begin with the prompt" in str(raised.value)
    assert "a local model" in raised.value.fix
    assert KEY not in str(raised.value)
    assert sent(server) == []


@pytest.mark.parametrize("via", WAYS)
def test_a_prescribed_way_is_the_only_one(server: MockServer, via: str) -> None:
    server.follow({"ignore": [via]})
    with pytest.raises(ModelError, match=f"of prompts \\({via}: no_logprobs"):
        score(completions(server, logprobs_via=via), "Is it so?")
    assert server.stats()["requests"] == 1


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"status": 401, "body": {"error": {"message": "no such key"}}}, "http_401: no such key"),
        ({"drop": "before"}, "connection: "),
    ],
)
def test_a_server_that_fails_is_not_said_to_lack_log_likelihoods(
    server: MockServer, rule: dict[str, Any], words: str
) -> None:
    server.follow(rule)
    with pytest.raises(ModelError, match="cannot be asked for log-likelihoods") as raised:
        score(completions(server, retry=0), "Is it so?")
    assert words in str(raised.value)
    assert server.stats()["requests"] == 1


def test_temporary_failures_of_log_likelihoods_are_retried(server: MockServer) -> None:
    server.follow({"text": "so", "times": 2, "status": 503}, {"text": "three", "times": 1, "raw": "<html>"})
    completion = score(completions(server), "Is it", continuation=" so")
    assert completion.likelihood is not None
    assert completion.likelihood.nll == pytest.approx(nll("Is it so", 2))
    assert completion.attempts == 3


def test_every_request_of_a_text_keeps_to_the_rate(server: MockServer) -> None:
    model = completions(server, request_rate=20.0)
    started = time.monotonic()
    found = asyncio.run(asked(model, ("Is it", LikelihoodQuery(" so")), ("It is", LikelihoodQuery(" so"))))
    assert all(completion.likelihood for completion in found)
    assert server.stats()["requests"] == 5
    assert time.monotonic() - started > 4 / 20.0


def test_a_prompt_that_is_known_to_be_too_long_is_not_sent(server: MockServer) -> None:
    path = str(ROOT / "configs" / "data" / "demo_model")
    model = completions(server, tokenizer_path=path, max_seq_len=10)
    assert failure(model, "Question: 1+2=? Answer: 3").kind == "too_long"
    assert server.stats()["requests"] == 0
    assert likelihood(model, "1+2").tokens > 0


def test_a_lasting_failure_is_that_of_one_text(server: MockServer) -> None:
    server.follow(
        {"text": "long", "status": 400, "body": {"error": {"message": "maximum context length is 4 {authorization}"}}}
    )
    bad, good = asyncio.run(
        asked(completions(server), ("It is long", LikelihoodQuery()), ("It is so", LikelihoodQuery()))
    )
    words, url = "maximum context length is 4 Bearer ***", server.base_url
    assert bad.failure == ServerFailure("too_long", f"{words} ({url}/completions)", words=words, address=url)
    assert good.likelihood is not None


@pytest.mark.parametrize("value", [None, -9999.0, 0.5])
def test_an_invalid_number_is_a_failure_of_one_text(server: MockServer, value: Any) -> None:
    entries = [None, {"7": {"logprob": -1.0}}, {"9": {"logprob": value}}]
    server.follow({"text": "odd", "body": {"choices": [{"prompt_logprobs": entries}]}})
    assert failure(completions(server), "It is odd").kind == "not_a_number"
    assert likelihood(completions(server), "It is so").tokens == 2


# Choices of one token


def log_prob(prompt: str, choice: str) -> float:
    return -nll(prompt + choice, len(LETTERS.read(prompt)))


@pytest.mark.parametrize("via", WAYS)
def test_choices(server: MockServer, via: Any) -> None:
    likeliest = [token.text for token in LETTERS.likeliest("Is it", 5)]
    choices = (likeliest[3], likeliest[0])
    found = likelihood(completions(server, logprobs_via=via), "Is it", choices=choices)
    assert found.choices == tuple(pytest.approx(log_prob("Is it", choice)) for choice in choices)
    assert len(sent(server)) == 1
    unlikely = (likeliest[1], " zebra")
    found = likelihood(completions(server, logprobs_via=via), "Is it", choices=unlikely)
    assert found.choices == tuple(pytest.approx(log_prob("Is it", choice)) for choice in unlikely)


def test_choices_of_a_server_without_alternatives(server: MockServer) -> None:
    server.follow({"asks": "logprobs", "status": 400, "body": {"error": {"message": "logprobs must be 0"}}})
    choices = tuple(token.text for token in LETTERS.likeliest("Is it", 2))
    found = likelihood(completions(server), "Is it", choices=choices)
    assert found.choices == tuple(pytest.approx(log_prob("Is it", choice)) for choice in choices)


def test_choices_must_be_single_tokens(server: MockServer) -> None:
    long = failure(completions(server), "Is it", choices=(" so big",))
    assert (long.kind, long.fatal) == ("long_choice", True)
    assert "' so big' is 2 tokens long" in long.message
    assert failure(completions(server), "Is it ", choices=("zebra",)).kind == "merged_choice"


# Messages


def test_the_log_likelihood_of_messages_is_that_of_their_text(server: MockServer) -> None:
    text = "user: Is it so?\nassistant: It is so: A\n"
    found = likelihood(chat(server), MESSAGES)
    tokens = len(LETTERS.read(text))
    without_first = text.removeprefix(LETTERS.read(text)[0].text)
    assert found == Likelihood(pytest.approx(nll(text)), tokens - 1, tokens, len(without_first))
    bodies = [request["body"] for request in server.requests()]
    assert all(body["add_generation_prompt"] is False for body in bodies)
    assert [body["messages"][0]["content"] for body in bodies] == [PROBE, "Is it so?"]


def test_the_opening_of_an_answer_is_measured_on_request(server: MockServer) -> None:
    text = "user: Is it so?\nassistant: It is so: A\nassistant: "
    found = likelihood(chat(server), MESSAGES, opens_answer=True)
    assert (found.nll, found.tokens) == (pytest.approx(nll(text)), len(LETTERS.read(text)) - 1)
    assert [request["body"]["add_generation_prompt"] for request in server.requests()] == [False, True]  # first a probe


@pytest.mark.parametrize("scoring", [{"continuation": " so"}, {"choices": ("A",)}])
def test_messages_take_no_continuation(server: MockServer, scoring: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="log-likelihood of a whole prompt only"):
        score(chat(server), MESSAGES, **scoring)
    assert server.stats()["requests"] == 0


def test_a_chat_server_without_log_likelihoods(server: MockServer) -> None:
    server.follow({"ignore": ["prompt_logprobs"]})
    with pytest.raises(
        ModelError, match="of prompts \\(prompt_logprobs: no_logprobs: the reply has no prompt_logprobs "
    ):
        score(chat(server), MESSAGES)
    with pytest.raises(ConfigError, match="logprobs_via cannot be 'echo'"):
        chat(server, logprobs_via="echo")


def test_media_have_no_log_likelihood(server: MockServer) -> None:
    image = ChatMessage("user", ({"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}},))
    refused = failure(chat(server), (image,))
    assert (refused.kind, refused.fatal) == ("cannot_score", True)
    with pytest.raises(PromptError, match="takes text, not messages"):
        score(completions(server), MESSAGES)


def test_a_model_that_was_not_opened() -> None:
    model = OpenAICompletionModel("mock", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match="before it was opened"):
        asyncio.run(model.complete(Request("s", "Is it so?", LikelihoodQuery())))
