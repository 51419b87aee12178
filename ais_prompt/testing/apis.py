"""Answers of the mock server in the forms of OpenAI's Responses API, Anthropic's Messages API and Triton.

The first two are written whole and as events of a stream.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ais_prompt.testing.answers import MockReply, words_of


def response_body(body: Mapping[str, Any], number: int, reply: MockReply) -> dict[str, Any]:
    """The response to request ``number``; a token is a word."""
    answer, finish_reason, reasoning, tool_calls = reply
    incomplete = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(finish_reason)
    status = "incomplete" if incomplete else "completed"
    thought = {"id": f"rs_{number}", "type": "reasoning", "summary": [{"type": "summary_text", "text": reasoning}]}
    part = {"type": "output_text", "text": answer, "annotations": []}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status, "content": [part]}
    calls = [
        {"id": f"fc_{place}", "type": "function_call", "call_id": f"call_{place}", "status": "completed"}
        | {"name": call["name"], "arguments": call["arguments"]}
        for place, call in enumerate(tool_calls)
    ]
    asked, thoughts, words = _asked(body["input"]), len(reasoning.split()), len(answer.split())
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "instructions": body.get("instructions"),
        "model": body["model"],
        "output": [*([thought] if reasoning else []), *([message] if answer or not calls else []), *calls],
        "parallel_tool_calls": True,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "usage": {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": thoughts + words,
            "output_tokens_details": {"reasoning_tokens": thoughts},
            "total_tokens": asked + thoughts + words,
        },
    }


def response_events(answer: Mapping[str, Any]) -> Iterator[str]:
    """The events of a response, one text each."""
    numbers = iter(range(10**6))

    def event(kind: str, **fields: Any) -> str:
        return json.dumps({"type": kind, "sequence_number": next(numbers), **fields})

    begun = {**answer, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield event("response.created", response=begun)
    for index, item in enumerate(answer["output"]):
        place = {"item_id": item["id"], "output_index": index}
        blank = {"arguments": ""} if item["type"] == "function_call" else {}
        yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", **blank})
        for piece in words_of("".join(part["text"] for part in item.get("summary", ()))):
            yield event("response.reasoning_summary_text.delta", **place, summary_index=0, delta=piece)
        for piece in words_of("".join(part["text"] for part in item.get("content", ()))):
            yield event("response.output_text.delta", **place, content_index=0, delta=piece, logprobs=[])
        for piece in words_of(item.get("arguments", "")):
            yield event("response.function_call_arguments.delta", **place, delta=piece)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event(f"response.{answer['status']}", response=answer)


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


def message_body(body: Mapping[str, Any], number: int, reply: MockReply) -> dict[str, Any]:
    """The message to request ``number``; a token is a word."""
    answer, finish_reason, reasoning, tool_calls = reply
    thinking = {"type": "thinking", "thinking": reasoning, "signature": "signed"}
    text = {"type": "text", "text": answer, "citations": None}
    calls = [
        {"type": "tool_use", "id": f"toolu_{place}", "name": call["name"], "input": _input(call["arguments"])}
        for place, call in enumerate(tool_calls)
    ]
    reason = "tool_use" if calls else {"stop": "end_turn", "length": "max_tokens"}.get(finish_reason, finish_reason)
    thoughts, words = len(reasoning.split()), len(answer.split())
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [*([thinking] if reasoning else []), *([text] if answer or not calls else []), *calls],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": _asked(body.get("system", "")) + _asked(body["messages"]),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": thoughts + words,
            "output_tokens_details": {"thinking_tokens": thoughts},
        },
    }


def _input(arguments: str) -> Any:
    """The arguments of a call; the text itself if it is no JSON, which only a faulty server sends."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def message_events(answer: Mapping[str, Any]) -> Iterator[str]:
    """The events of a message, one text each."""

    def event(kind: str, **fields: Any) -> str:
        return json.dumps({"type": kind, **fields})

    usage = {**answer["usage"], "output_tokens": 1}
    yield event("message_start", message={**answer, "content": [], "stop_reason": None, "usage": usage})
    yield event("ping")
    for index, block in enumerate(answer["content"]):
        blank, deltas = _in_pieces(block)
        yield event("content_block_start", index=index, content_block=blank)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=end, usage={"output_tokens": answer["usage"]["output_tokens"]})
    yield event("message_stop")


def _in_pieces(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block as it begins, and the pieces that are added to it."""
    kind = block["type"]
    if kind == "tool_use":
        given = block["input"]
        pieces = ["", *words_of(given if isinstance(given, str) else json.dumps(given))]
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    signed = "signature" in block
    ends = [{"type": "signature_delta", "signature": block["signature"]}] if signed else []
    deltas = [{"type": f"{kind}_delta", kind: piece} for piece in words_of(block[kind])]
    return {**block, kind: "", "signature": ""}, [*deltas, *ends]


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


def error_of_messages(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    """An error as Anthropic words it."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _asked(content: Any) -> int:
    """The number of words in a prompt of any of these forms."""
    if isinstance(content, str):
        return len(content.split())
    return sum(_asked(item.get("content", item.get("text", ""))) for item in content)


def generate_body(body: Mapping[str, Any], number: int, reply: MockReply) -> dict[str, Any]:  # noqa: ARG001
    """The reply of Triton to a request."""
    return {"model_name": "mock", "model_version": "1", "text_output": reply.answer}
