"""Models behind Triton's generate endpoint, against a real server on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.extensions.peers.triton import Generate, TritonModel
from ais_prompt.models import Retry, read_reply
from ais_prompt.types import ChatMessage, Completion, Prompt, Request
from tests.core.property.test_replies import check_every_place
from tests.core.unit.models.api.test_causes import FILTERED, OTHER, TOO_LONG
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


def ask(server: MockServer, prompt: Prompt = "3+4=", stop: tuple[str, ...] = (), **arguments: Any) -> Completion:
    base_url = server.base_url.removesuffix("/v1")
    model = TritonModel(arguments.pop("model", "a model"), base_url, None, retry=Retry(1, first_wait=0.01), **arguments)

    model.preflight()

    async def asked() -> Completion:
        await model.open()
        try:
            return await model.complete(Request("s", prompt, model.decoding(None, stop)))
        finally:
            await model.aclose()

    return asyncio.run(asked())


def test_a_text_is_continued(server: MockServer) -> None:
    options = {"top_k": 4, "exclude_input_in_output": True}
    completion = ask(server, max_out_len=9, max_tokens_field="max_new_tokens", generation_kwargs=options)
    assert (completion.text, completion.finish_reason) == ("7", "unknown")
    [request] = server.requests()
    assert request["path"] == "/v2/models/a%20model/generate"
    parameters = {"max_new_tokens": 9, "temperature": 0.0, "top_k": 4, "exclude_input_in_output": True}
    assert request["body"] == {"text_input": "3+4=", "parameters": parameters}


def test_an_answer_is_cut_at_stop_texts(server: MockServer) -> None:
    server.follow({"answer": "seven\nQ: next"})
    assert ask(server, stop=("Q:", "\n")).text == "seven"
    assert "stop" not in str(server.requests()[0]["body"])


def test_a_model_without_a_name_is_the_one_that_the_server_lists(server: MockServer) -> None:
    assert TritonModel("", server.base_url.removesuffix("/v1"), None).only_model() == "mock"


@pytest.mark.parametrize(
    ("rule", "kind", "words"),
    [
        ({"status": 500, "raw": '{"error": "in ensemble: no memory"}'}, "http_500", "in ensemble: no memory"),
        ({"raw": '{"choices": [{"text": "7"}]}'}, "bad_body", "one that OpenAIChatModel reads"),
        ({"raw": '{"text_output": null}'}, "bad_body", "no text_output"),
    ],
)
def test_a_failure_has_the_words_of_the_server(server: MockServer, rule: dict[str, Any], kind: str, words: str) -> None:
    server.follow(rule, rule)
    completion = ask(server)
    assert completion.failure is not None
    assert completion.failure.kind == kind
    assert words in completion.failure.message


def test_messages_and_streams_are_refused(server: MockServer) -> None:
    with pytest.raises(PromptError, match="takes text, not messages"):
        ask(server, (ChatMessage("user", "3+4="),))
    with pytest.raises(ConfigError, match="stream"):
        ask(server, stream=True)


def test_whatever_is_in_a_reply_becomes_a_completion_or_a_failure() -> None:
    check_every_place(Generate("m"), {"model_name": "m", "model_version": "1", "text_output": "four"})


@pytest.mark.parametrize("status", [200, 400, 500])
def test_errors_say_whether_they_are_about_one_prompt(status: int) -> None:
    def kind(error: Any) -> str:
        failure = read_reply(Generate("m"), status, json.dumps({"error": error}).encode()).failure
        assert failure
        return failure.kind

    assert {kind({"message": error} if isinstance(error, str) else error) for error in TOO_LONG.values()} == {
        "too_long"
    }
    assert {kind(error) for error in FILTERED.values()} == {"content_filter"}
    assert not {kind({"message": error}) for error in OTHER} & {"too_long", "content_filter", "quota"}
