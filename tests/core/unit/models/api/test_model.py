"""Models behind an OpenAI-compatible server, asked over real sockets."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ais_prompt.errors import ConfigError, ModelError, PromptError
from ais_prompt.models import AsyncModel, BatchModel, OpenAIChatModel, OpenAICompletionModel, OpenAIModel, Retry
from ais_prompt.registry import MODELS
from ais_prompt.types import ChatMessage, Completion, Failure, Prompt, Request, ServerFailure, Usage
from tests.support.servers import MockServer, mock_server
from tests.support.waiting import STALL_SECONDS, WATCHDOG_SECONDS, wait_until

pytestmark = pytest.mark.process


KEY = "sk-proj-0123456789abcdefABCDEF"
QUESTION = (ChatMessage("system", "Be brief."), ChatMessage("user", "3+4=?"))


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


def chat(server: MockServer, **arguments: Any) -> OpenAIChatModel:
    return in_a_hurry(OpenAIChatModel("mock", server.base_url, **arguments))


def in_a_hurry(model: OpenAIChatModel) -> OpenAIChatModel:
    model.retry = Retry(model.retry.retries, first_wait=0.01)
    return model


async def asked(model: OpenAIModel, *prompts: Prompt) -> list[Completion]:
    """The answers to prompts that are asked side by side."""
    await model.open()
    try:
        decoding = model.decoding(None, ())
        return await asyncio.gather(*(model.complete(Request("s", prompt, decoding)) for prompt in prompts))
    finally:
        await model.aclose()


def ask(model: OpenAIModel, prompt: Prompt = QUESTION) -> Completion:
    return asyncio.run(asked(model, prompt))[0]


def failure_of(model: OpenAIModel) -> Failure:
    completion = ask(model)
    assert completion.failure
    assert (completion.text, completion.finish_reason) == ("", None)
    return completion.failure


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def test_they_are_async_models_with_registered_names() -> None:
    for name in ("OpenAIChatModel", "OpenAICompletionModel"):
        model = MODELS.get(name)(model="m")
        assert isinstance(model, AsyncModel)
        assert not isinstance(model, BatchModel)


def test_making_one_imports_no_http_library() -> None:
    program = (
        "import sys; from ais_prompt import OpenAIChatModel; OpenAIChatModel('m').identity();"
        "print([name for name in ('aiohttp', 'torch', 'transformers', 'openai') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=WATCHDOG_SECONDS, check=True
    )
    assert result.stdout.strip() == "[]"


def test_a_chat_is_answered(server: MockServer) -> None:
    started = time.monotonic()
    completion = ask(chat(server, seed=5))
    assert (completion.text, completion.finish_reason, completion.attempts) == ("7", "stop", 1)
    assert completion.usage == Usage(3, 1)
    assert 0 < completion.seconds <= time.monotonic() - started
    [request] = server.requests()
    assert request["path"] == "/v1/chat/completions"
    assert request["body"] == {
        "model": "mock",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "3+4=?"}],
        "max_tokens": 256,
        "temperature": 0.0,
        "seed": 5,
    }


def test_a_text_is_continued(server: MockServer) -> None:
    model = OpenAICompletionModel(
        "mock",
        f"{server.base_url}/?version=1",
        stop_words=["\n"],
        generation_kwargs={"temperature": None, "echo": False},
    )
    assert ask(model, "1+1=2\n3+9=").text == "12"
    [request] = server.requests()
    assert request["path"] == "/v1/completions?version=1"
    assert request["body"] == {
        "model": "mock",
        "prompt": "1+1=2\n3+9=",
        "max_tokens": 256,
        "stop": ["\n"],
        "echo": False,
    }


@pytest.mark.parametrize(
    "text", ['你好，世界 — naïve 😀\u2028\x00\t"{}\\', "a lone \ud800 surrogate", np.str_("a text of NumPy")]
)
def test_every_character_makes_the_round_trip(server: MockServer, text: str) -> None:
    server.follow({"answer": text})
    assert ask(chat(server), text).text == text
    assert server.requests()[0]["body"]["messages"][0]["content"] == text


def test_the_address_comes_from_the_config_or_the_environment(
    server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert OpenAIChatModel("m").address == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    assert ask(OpenAIChatModel("m")).text == "7"
    assert OpenAIChatModel("m", "http://127.0.0.1:1/v1").address == "http://127.0.0.1:1/v1"


def test_a_truncated_answer_says_so(server: MockServer) -> None:
    server.follow({"answer": "the sum of", "finish_reason": "length"})
    assert ask(chat(server)).finish_reason == "length"


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ({"status": 429, "body": {"error": {"message": "slow down"}}}, "http_429"),
        ({"status": 500, "raw": "<html>oops</html>"}, "http_500"),
        ({"status": 503, "raw": ""}, "http_503"),
        ({"status": 408, "body": {"error": "late"}}, "http_408"),
        ({"raw": "<html>busy</html>"}, "bad_body"),
        ({"body": {"choices": []}}, "empty_choices"),
        ({"drop": "before"}, "connection"),
        ({"drop": "midway"}, "connection"),
        ({"latency": STALL_SECONDS}, "timeout"),
    ],
)
def test_temporary_failures_are_retried(server: MockServer, rule: dict[str, Any], kind: str) -> None:
    timeout = 1.0 if kind == "timeout" else WATCHDOG_SECONDS
    server.follow(rule | {"times": 2})
    completion = ask(chat(server, timeout=timeout, retry=2))
    assert (completion.text, completion.failure, completion.attempts) == ("7", None, 3)

    server.follow(rule)
    completion = ask(chat(server, timeout=0.1 if kind == "timeout" else timeout, retry=1))
    assert completion.failure
    assert (completion.failure.kind, completion.failure.fatal, completion.attempts) == (kind, False, 2)
    assert completion.failure.message
    assert server.stats()["requests"] == 2


@pytest.mark.parametrize(
    ("status", "kind", "fatal"),
    [
        (400, "http_400", False),
        (401, "http_401", True),
        (403, "http_403", True),
        (404, "http_404", True),
        (422, "http_422", False),
        (307, "http_307", False),
    ],
)
def test_lasting_failures_are_not_retried(server: MockServer, status: int, kind: str, fatal: bool) -> None:
    server.follow(
        {"status": status, "body": {"error": {"message": "no"}}, "headers": {"Location": "http://no.test/v1"}}
    )
    failure = failure_of(chat(server))
    assert (failure.kind, failure.fatal) == (kind, fatal)
    assert "no" in failure.message
    assert server.stats()["requests"] == 1


def test_a_too_long_prompt_has_its_own_kind(server: MockServer) -> None:
    words = "This model's maximum context length is 8 tokens"
    server.follow({"status": 400, "body": {"error": {"message": words, "code": "context_length_exceeded"}}})
    url = server.base_url
    message = f"{words} ({url}/chat/completions)"
    assert failure_of(chat(server)) == ServerFailure("too_long", message, words=words, address=url)


def test_variables_of_the_chat_template_are_sent(server: MockServer) -> None:
    variables = {"enable_thinking": False}
    models = [chat(server, chat_template_kwargs=variables), chat(server, sampling={"chat_template_kwargs": variables})]
    for model in [*models, chat(server, generation_kwargs={"chat_template_kwargs": variables})]:
        assert ask(model).text == "7"
    bodies = [request["body"] for request in server.requests()]
    assert bodies == [bodies[0]] * 3
    assert bodies[0]["chat_template_kwargs"] == variables


def test_an_error_about_an_option_names_it(server: MockServer) -> None:
    server.follow({"status": 400, "body": {"error": {"message": "'max_tokens' is not supported with this model."}}})
    failure = failure_of(chat(server))
    assert failure.kind == "http_400"
    assert failure.message.endswith("/chat/completions; set max_tokens_field='max_completion_tokens')")


def test_an_unreachable_server_is_a_failure() -> None:
    model = in_a_hurry(OpenAIChatModel("m", f"http://127.0.0.1:{free_port()}/v1", retry=1))
    completion = ask(model)
    assert completion.failure
    assert (completion.failure.kind, completion.attempts) == ("unreachable", 2)


def test_retry_after_is_respected(server: MockServer) -> None:
    server.follow({"times": 1, "status": 429, "headers": {"Retry-After": "0.4"}})
    started = time.monotonic()
    assert ask(chat(server)).attempts == 2
    assert time.monotonic() - started >= 0.4

    server.follow({"status": 429, "headers": {"Retry-After": "86400"}, "body": {"error": "come back tomorrow"}})
    assert ask(chat(server)).attempts == 1


@pytest.mark.parametrize("most", [7, 120])
def test_max_concurrency_is_used_and_kept_to(server: MockServer, most: int) -> None:
    server.follow({"latency": 0.3 if most > 100 else 0.01})
    answers = asyncio.run(asked(chat(server, max_concurrency=most), *[f"{number}+1" for number in range(120)]))
    assert [answer.text for answer in answers] == [str(number + 1) for number in range(120)]
    assert 0.8 * most < server.stats()["most_in_flight"] <= most


def test_a_key_is_sent_and_never_shown(server: MockServer, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("MY_TEST_KEY", KEY)
    secret = "tenant-0123456789"
    server.follow(
        {"requests": [1], "status": 401, "body": {"error": {"message": "wrong key: {authorization} of " + secret}}},
        {"requests": [2], "status": 400, "raw": "x" * 480 + " {authorization} {authorization}"},
        {"requests": [3], "raw": "you sent {authorization}"},
    )
    model = chat(server, api_key="MY_TEST_KEY", headers={"X-Tenant": f"Bearer {secret}"}, retry=0)
    failures = [failure_of(model) for _ in range(3)]
    assert failures[0].message == f"wrong key: Bearer *** of *** ({server.base_url}/chat/completions)"
    assert [request["authorization"] for request in server.requests()] == [True] * 3
    assert "X-Tenant" in server.requests()[0]["headers"]
    assert all(len(failure.message) <= 600 for failure in failures)
    shown = repr([failures, model, dict(model.identity())]) + "".join(capfd.readouterr())
    assert not any(KEY[:length] in shown for length in (8, len(KEY)))
    assert secret not in shown


def test_no_key_is_sent_to_this_machine_where_none_is_set(server: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(chat(server)).text == "7"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert ask(chat(server)).text == "7"
    assert ask(chat(server, api_key=None)).text == "7"
    assert [request["authorization"] for request in server.requests()] == [False, True, False]


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"base_url": "https://api.example.com/v1"}, None),
        ({"base_url": "http://127.0.0.1:1/v1", "api_key": "MY_TEST_KEY"}, None),
        ({"base_url": "https://api.example.com/v1", "api_key": "MY_TEST_KEY"}, "  "),
        ({"base_url": "https://api.example.com/v1", "api_key": "MY_TEST_KEY"}, f"{KEY}\n{KEY}"),
        ({"base_url": f"https://me:{KEY}@api.example.com/v1?{KEY}", "api_key": "MY_TEST_KEY"}, KEY),
    ],
)
def test_a_missing_key_is_an_error_before_any_work(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, str], value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv("MY_TEST_KEY", value)
    model = OpenAIChatModel("m", **arguments)  # type: ignore[arg-type]
    for usable in (model.preflight, lambda: asyncio.run(model.open())):
        with pytest.raises(ModelError, match=arguments.get("api_key", "OPENAI_API_KEY")) as caught:
            usable()
        assert KEY not in "".join(traceback.format_exception(caught.value)) + "".join(caught.value.lines())
        assert caught.value.fix


@pytest.mark.parametrize("key", [KEY, "sk-x", "0123456789abcdef", "a1b2c3d4e5f60718", "gsk_abcdEFGH1234", "two words"])
def test_a_key_in_the_config_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIChatModel("m", api_key=key)
    assert key not in "".join(caught.value.lines())


@pytest.mark.parametrize(
    "base_url", ["127.0.0.1:8000/v1", "ftp://host/v1", "http://", "http://host:99999/v1", "http://[::1/v1", "file:///x"]
)
def test_a_wrong_address_is_an_error_before_any_work(base_url: str) -> None:
    with pytest.raises(ModelError, match="base_url"):
        OpenAIChatModel("m", base_url, api_key=None).preflight()


def test_the_identity_has_neither_secrets_nor_the_address() -> None:
    model = OpenAIChatModel("m", f"https://me:{KEY}@host:8443/v1/?token={KEY}", api_key=None, retry=9, timeout=1.0)
    identity = {"type": "OpenAIChatModel", "model": "m"}
    assert model.address == "https://host:8443/v1"
    assert dict(model.identity()) == {**identity, "think_tags": ("<think>", "</think>")}


def test_a_password_in_the_address_is_used_and_never_shown(server: MockServer) -> None:
    server.follow({"status": 400, "raw": "{authorization}"})
    model = OpenAIChatModel("m", server.base_url.replace("://", "://me:pass-word@"), api_key=None)
    assert failure_of(model).message == f"Basic *** ({server.base_url}/chat/completions)"


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    assert ask(chat(server, retry=0)).text == "7"


def test_a_proxy_of_the_environment_is_asked_for_other_machines(
    server: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.base_url.removesuffix("/v1"))
    model = OpenAIChatModel("m", "http://far-away.test/v1", api_key=None, retry=0)
    assert ask(model).text == "7"


def test_cancelling_ends_at_once_and_leaves_nothing_open(server: MockServer) -> None:
    server.follow({"latency": STALL_SECONDS})

    async def cancel() -> None:
        asking = asyncio.create_task(asked(chat(server, timeout=STALL_SECONDS), "1+1", "2+2"))
        await asyncio.to_thread(wait_until, lambda: server.stats()["requests"] >= 2, "two requests")
        asking.cancel()
        await asyncio.wait({asking}, timeout=WATCHDOG_SECONDS / 2)
        assert asking.cancelled()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(cancel())
        gc.collect()
    assert not [str(warning.message) for warning in caught if warning.category is ResourceWarning]


def test_it_can_be_opened_again_in_another_event_loop(server: MockServer) -> None:
    model = chat(server)
    assert [ask(model).text, ask(model).text] == ["7", "7"]
    model.close()
    with pytest.raises(ModelError, match="open"):
        asyncio.run(model.complete(Request("s", "x", model.decoding(None, ()))))


def test_options_of_model_and_dataset_are_joined() -> None:
    model = OpenAIChatModel(
        "m", stop_words=["END"], seed=1, max_out_len=9, generation_kwargs={"top_p": 0.5, "seed": 2, "top_k": 3}
    )
    decoding = model.decoding(None, ["\n", "END", ""])
    assert (decoding.max_out_len, decoding.stop) == (9, ("END", "\n"))
    assert (decoding.temperature, decoding.top_p, decoding.seed, decoding.extra) == (0.0, 0.5, 2, {"top_k": 3})
    assert model.decoding(3, ()).max_out_len == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"generation_kwargs": {"max_tokens": 5}}, "max_tokens"),
        ({"generation_kwargs": {"stream": True}}, "stream"),
        ({"generation_kwargs": {"stop": ["x"]}}, "stop_words"),
        ({"generation_kwargs": {"bias": {1, 2}}}, "JSON"),
        ({"generation_kwargs": {"temperature": float("nan")}}, "JSON"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"timeout": 0}, "timeout"),
        ({"retry": -1}, "retry must be at least 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIChatModel("m", **arguments)
    assert words in " ".join(caught.value.lines())


def save_tokenizer(folder: Path, chat_template: str | None) -> str:
    """A tokenizer that makes one token of each word or sign, and puts <s> in front of a text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.WordLevel({"<s>": 0, "<unk>": 1}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", unk_token="<unk>")
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_tokens_are_counted_as_the_server_will_see_them(tmp_path: Path) -> None:
    turns = "{% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}"
    template = f"<s>{turns}{{% if add_generation_prompt %}}bot{{% endif %}}"
    path = save_tokenizer(tmp_path / "chat", template)
    one_turn = (ChatMessage("user", "add 3 4"),)
    chat_model = OpenAIChatModel("m", tokenizer_path=path)
    assert chat_model.count_tokens(one_turn) == len(["<s>", "user", "add", "3", "4", "bot"])
    assert chat_model.count_tokens("add 3 4") == 6, "a text is sent as one message"
    assert OpenAICompletionModel("m", tokenizer_path=path).count_tokens("add 3 4") == len(["<s>", "add", "3", "4"])
    assert chat_model.count_tokens((ChatMessage("user", ({"type": "text", "text": "add"},)),)) is None


def test_tokens_are_not_counted_where_they_cannot_be_known(tmp_path: Path) -> None:
    assert OpenAIChatModel("m").count_tokens(QUESTION) is None
    assert OpenAIChatModel("m", tokenizer_path=save_tokenizer(tmp_path, None)).count_tokens(QUESTION) is None
    picky = save_tokenizer(tmp_path / "picky", "{{ raise_exception('no system message, please') }}")
    with pytest.raises(PromptError, match="no system message"):
        OpenAIChatModel("m", tokenizer_path=picky).count_tokens(QUESTION)
    with pytest.raises(ModelError):
        OpenAIChatModel("m", tokenizer_path="./not-there").count_tokens(QUESTION)


def test_a_missing_folder_of_the_tokenizer_is_an_error_before_anything_is_asked() -> None:
    model = OpenAIChatModel("m", "http://127.0.0.1:9/v1", api_key=None, tokenizer_path="./not-there")
    for start in (model.preflight, lambda: asyncio.run(model.open())):
        with pytest.raises(ModelError, match="the tokenizer folder does not exist"):
            start()


def test_the_mock_server_logs_requests_without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    log = tmp_path / "log.jsonl"
    with mock_server([{"answer": "from the script"}], log=log) as server:
        assert ask(chat(server)).text == "from the script"
    [entry] = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert (entry["number"], entry["authorization"]) == (1, True)
    assert KEY not in log.read_text("utf-8")


@pytest.mark.parametrize(
    ("base_url", "known"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("https://vllm.example.org/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://mine.openai.azure.com/openai/v1", False),
        (None, False),
    ],
)
def test_which_servers_take_ids_of_stop_tokens(base_url: str | None, known: bool) -> None:
    assert OpenAIChatModel("m", base_url).knows_stop_tokens is known
