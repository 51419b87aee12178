"""Our wire format beside the types of the ``openai`` package."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from ais_prompt.models import CHAT, COMPLETIONS, STREAMED, ChatStream, Wire, WrittenReply, answer_body, read_reply
from ais_prompt.types import ChatMessage, Decoding, Request, ToolCall
from ais_prompt.utils import call_messages
from tests.core.unit.models.package_types import PackageTypes

pytestmark = pytest.mark.thorough

TEXTS, CHATS = PackageTypes("openai.types"), PackageTypes("openai.types.chat")

DECODINGS = [
    Decoding(7),
    Decoding(7, temperature=0.0, top_p=0.5, stop=("\n", "Q"), seed=3),
    Decoding(7, temperature=1.0, extra={"frequency_penalty": 0.5, "logprobs": True, "top_logprobs": 5}),
]
PROMPTS = [
    (ChatMessage("user", "Hi"),),
    (
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "Hi"),
        ChatMessage("assistant", "Hello"),
        ChatMessage("user", "2+2?"),
    ),
    (ChatMessage("user", ({"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": "data:,"}})),),
    (
        ChatMessage("user", "1+1 and 2+2?"),
        *call_messages("", [ToolCall("add", '{"a": 1}'), ToolCall("add", "not JSON")], ["2", "4"], 0),
        ChatMessage("user", "And 3+3?"),
    ),
]


def test_bodies_of_chats_are_those_of_the_package() -> None:
    for more in [{}, STREAMED]:
        for field in ["max_tokens", "max_completion_tokens"]:
            for prompt in PROMPTS:
                for decoding in DECODINGS:
                    body = CHAT.body("m", Request("s", prompt, decoding), Wire(max_tokens_field=field)) | more
                    assert CHATS.read("CompletionCreateParams", body) == body, (
                        "no field is unknown to the package, none is changed"
                    )


@pytest.mark.parametrize("decoding", DECODINGS[:2])
@pytest.mark.parametrize("more", [{}, STREAMED, {"echo": True, "logprobs": 1}])
def test_bodies_of_completions_are_those_of_the_package(decoding: Decoding, more: Any) -> None:
    body = COMPLETIONS.body("m", Request("s", "1+1=", decoding), Wire()) | more
    assert TEXTS.read("CompletionCreateParams", body) == body


def test_a_wrong_body_is_refused() -> None:
    body = CHAT.body("m", Request("s", "Hi", Decoding(7)), Wire())
    for wrong in ({"messages": "Hi"}, {"temperature": "warm"}, {"stop": 3}):
        with pytest.raises(ValidationError):
            CHATS.read("CompletionCreateParams", {**body, **wrong})


@pytest.mark.parametrize("content", ["four", "", None])
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_replies_are_read_as_the_package_reads_them(content: str | None, reason: str) -> None:
    reply = answer_body(
        {"model": "m", "messages": [{"role": "user", "content": "2+2"}]}, 1, WrittenReply("four", reason)
    )
    reply["choices"][0]["message"] |= {"content": content, "refusal": None if content else "I cannot."}
    theirs = CHATS.module.ChatCompletion.model_validate(reply)
    ours = read_reply(CHAT, 200, json.dumps(reply).encode())
    message = theirs.choices[0].message
    assert ours.text == (message.content or message.refusal)
    assert ours.refused is bool(message.refusal)
    assert ours.finish_reason == theirs.choices[0].finish_reason
    assert theirs.usage
    assert (ours.usage.prompt_tokens, ours.usage.completion_tokens) == (
        theirs.usage.prompt_tokens,
        theirs.usage.completion_tokens,
    )


def test_completions_are_read_as_the_package_reads_them() -> None:
    reply = answer_body({"model": "m", "prompt": "2+2"}, 1, WrittenReply(" four", "length"))
    theirs = TEXTS.module.Completion.model_validate(reply)
    ours = read_reply(COMPLETIONS, 200, json.dumps(reply).encode())
    assert (ours.text, ours.finish_reason) == (theirs.choices[0].text, theirs.choices[0].finish_reason)


def test_chunks_are_read_as_the_package_reads_them() -> None:
    shared = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {"content": "fo"}, {"content": "ur"}, {}]
    chunks = [
        {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]}
        for delta in deltas
    ]
    theirs = [CHATS.module.ChatCompletionChunk.model_validate(chunk) for chunk in chunks]
    reader = ChatStream()
    for chunk in chunks:
        reader.feed(f"data: {json.dumps(chunk)}\n\n".encode())
    ours = reader.completion()
    assert ours.text == "".join(chunk.choices[0].delta.content or "" for chunk in theirs)
    assert ours.finish_reason == theirs[-1].choices[0].finish_reason
