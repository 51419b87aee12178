"""What the mock server reads in a request, and what it says in the forms of the APIs.

The question of a request and its default answer; log-probabilities of OpenAI; errors in the words of OpenAI's Responses
API and Anthropic's Messages API; answers of Triton.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.models import WrittenReply, words_of

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


def response_fault(body: Mapping[str, Any]) -> str:
    """Return the error for items without a type, and for calls and results that do not match; empty without one."""
    items = body["input"] if isinstance(body["input"], list) else []
    if any("type" not in item and item["role"] == "assistant" for item in items):
        return "Cannot determine type of 'item'"  # llama.cpp's server; others take it for a message
    items = [item for item in items if "type" in item]
    called = [item["call_id"] for item in items if item["type"] == "function_call"]
    known = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    if missing := [name for name in called if name not in known]:
        return f"No tool output found for function call {missing[0]}."
    if unknown := [name for name in known if name not in called]:
        return f"No tool call found for function call output with call_id {unknown[0]}."
    if nested := [tool for tool in body.get("tools", ()) if tool.get("type") == "function" and "name" not in tool]:
        return f"Missing required parameter: 'tools[{body['tools'].index(nested[0])}].name'."
    return ""


def message_fault(headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """Return the error of the Messages API for a request that it does not take; empty for a good request."""
    if "anthropic-version" not in headers:
        return "anthropic-version: header is required"
    if "Authorization" in headers:
        return "Authorization: use x-api-key"
    if type(body.get("max_tokens")) is not int:
        return "max_tokens: Field required"
    if any(not stop.strip() for stop in body.get("stop_sequences", ())):
        return "stop_sequences: each stop sequence must contain non-whitespace"
    roles = [message["role"] for message in body["messages"]]
    if roles[0] != "user" or any(first == second for first, second in itertools.pairwise(roles)):
        return "messages: roles must alternate, beginning with user"
    if any("name" not in tool or not {"type", "input_schema"} & set(tool) for tool in body.get("tools", ())):
        return "tools: each tool needs a name, and an input_schema unless the server knows its type"
    return _fault_of_results(body["messages"])


def _fault_of_results(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the error of the Messages API for a call without its result after it; empty if all have theirs."""
    for number, message in enumerate(messages):
        called = _ids(message, "tool_use", "id")
        following = messages[number + 1] if number + 1 < len(messages) else {"content": ""}
        if missing := set(called) - set(_ids(following, "tool_result", "tool_use_id")):
            return f"messages.{number}: `tool_use` ids were found without `tool_result` blocks: {sorted(missing)}"
        before = messages[number - 1] if number else {"content": ""}
        if unknown := set(_ids(message, "tool_result", "tool_use_id")) - set(_ids(before, "tool_use", "id")):
            return f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {sorted(unknown)}"
    return ""


def _ids(message: Mapping[str, Any], kind: str, field: str) -> list[str]:
    """The ids of the calls or results in a message."""
    content = message["content"]
    return [] if isinstance(content, str) else [block[field] for block in content if block["type"] == kind]


def generate_body(body: Mapping[str, Any], number: int, reply: WrittenReply) -> dict[str, Any]:  # noqa: ARG001
    """The reply of Triton to a request."""
    return {"model_name": "mock", "model_version": "1", "text_output": reply.answer}
