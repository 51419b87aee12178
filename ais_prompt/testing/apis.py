"""Errors of the mock server in the words of OpenAI's Responses API and Anthropic's Messages API; answers of Triton."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ais_prompt.models import WrittenReply


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
