"""Answers of the mock server in the wire format of OpenAI."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

MODEL: Final = "mock"

_SUM: Final = re.compile(r"(-?\d+)\s*\+\s*(-?\d+)")


def question_of(body: Mapping[str, Any]) -> str:
    """The text that is answered: the prompt, or the last message of the user.

    Raises:
        KeyError: the body has no prompt, messages or input.
    """
    for field in ("prompt", "text_input"):
        if field in body:
            return str(body[field])
    messages = body["input"] if "input" in body else body["messages"]
    by_user = [message["content"] for message in messages if message.get("role") == "user"]
    return next((_text(content) for content in reversed(by_user) if not _is_results(content)), "")


def _is_results(content: Any) -> bool:
    """Whether a message has results of tools only, as a user of the Messages API sends them."""
    return isinstance(content, list) and bool(content) and all(part.get("type") == "tool_result" for part in content)


def default_answer(question: str) -> str:
    """The last sum in the question, added up; ``ok`` if there is none."""
    sums = _SUM.findall(question)
    return str(sum(map(int, sums[-1]))) if sums else "ok"


class MockReply(NamedTuple):
    """An answer of the model, in no API's form.

    Attributes:
        answer: the text.
        finish_reason: as OpenAI names it.
        reasoning: the thoughts before the answer.
        tool_calls: ``name`` and ``arguments`` of each call.
    """

    answer: str
    finish_reason: str = "stop"
    reasoning: str = ""
    tool_calls: Sequence[Mapping[str, str]] = ()


def answer_body(body: Mapping[str, Any], number: int, reply: MockReply) -> dict[str, Any]:
    """The reply to request ``number``; a token is a word. Only a chat calls tools."""
    answer, finish_reason, reasoning, tool_calls = reply
    chat = "messages" in body
    thought = {"reasoning_content": reasoning} if reasoning else {}
    called = {"tool_calls": list(map(_called, range(len(tool_calls)), tool_calls))} if tool_calls else {}
    message = {"role": "assistant", "content": answer if answer or not called else None, **thought, **called}
    content = {"message": message} if chat else {"text": answer}
    reason = "tool_calls" if chat and called else finish_reason
    asked = " ".join(_text(message["content"]) for message in body["messages"]) if chat else str(body["prompt"])
    prompt_tokens, completion_tokens = len(asked.split()), len(reasoning.split()) + len(answer.split())
    return {
        "id": f"mock-{number}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": body.get("model", MODEL),
        "choices": [{"index": 0, **content, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _called(number: int, call: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": f"call-{number}", "type": "function", "function": function}


def error_body(message: str, kind: str) -> dict[str, Any]:
    """An error as OpenAI words it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def models_body() -> dict[str, Any]:
    """The list of models."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "mock"}]}


def words_of(text: str) -> list[str]:
    """The pieces of a text in which it is streamed."""
    return re.findall(r"\s*\S+\s*$|\s*\S+|\s+$", text)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or () if part.get("type") != "tool_result")
