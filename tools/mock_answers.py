"""What the mock server answers, in the wire format of OpenAI."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

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
    by_user = [message["content"] for message in messages if message["role"] == "user"]
    return _text(by_user[-1]) if by_user else ""


def default_answer(question: str) -> str:
    """The last sum in the question, added up; ``ok`` if there is none."""
    sums = _SUM.findall(question)
    return str(sum(map(int, sums[-1]))) if sums else "ok"


def answer_body(
    body: Mapping[str, Any], number: int, answer: str, finish_reason: str, reasoning: str = ""
) -> dict[str, Any]:
    """The reply to request ``number``; a token is a word."""
    chat = "messages" in body
    thought = {"reasoning_content": reasoning} if reasoning else {}
    content = {"message": {"role": "assistant", "content": answer, **thought}} if chat else {"text": answer}
    asked = " ".join(_text(message["content"]) for message in body["messages"]) if chat else str(body["prompt"])
    prompt_tokens, completion_tokens = len(asked.split()), len(reasoning.split()) + len(answer.split())
    return {
        "id": f"mock-{number}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": body.get("model", MODEL),
        "choices": [{"index": 0, **content, "finish_reason": finish_reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def add_tool_calls(answer: dict[str, Any], calls: Sequence[Mapping[str, str]]) -> None:
    """Let an answer of a chat call tools in place of its text."""
    [choice] = answer["choices"]
    functions = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
    choice["message"] |= {
        "content": None,
        "tool_calls": [
            {"id": f"call-{number}", "type": "function", "function": function}
            for number, function in enumerate(functions)
        ],
    }
    choice["finish_reason"] = "tool_calls"


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
    return "\n".join(part.get("text", "") for part in content or ())
