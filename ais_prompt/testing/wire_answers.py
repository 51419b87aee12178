"""Answers of the mock server in the wire format of OpenAI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.models import words_of

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


def chat_logprobs(answer: str, alternatives: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Log-probabilities of an answer in the form of a chat completion; a token is a word.

    Args:
        answer: the text.
        alternatives: word → log-probability of each token in its place; those of other words are certain.
    """
    content = []
    for word in words_of(answer):
        tops = alternatives.get(word.strip(), {word: 0.0})
        top = [{"token": token, "logprob": value} for token, value in tops.items()]
        content.append({"token": word, "logprob": tops.get(word, 0.0), "top_logprobs": top})
    return {"content": content}


def models_body() -> dict[str, Any]:
    """The list of models."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "mock"}]}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or () if part.get("type") != "tool_result")
