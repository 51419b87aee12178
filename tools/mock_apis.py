"""What the mock server answers in the forms of OpenAI's Responses API, Anthropic's Messages API and Triton.

The first two are written whole and as events of a stream.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tools.mock_answers import words_of


def response_body(
    body: Mapping[str, Any], number: int, answer: str, finish_reason: str, reasoning: str = ""
) -> dict[str, Any]:
    """The response to request ``number``; a token is a word."""
    incomplete = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(finish_reason)
    status = "incomplete" if incomplete else "completed"
    thought = {"id": f"rs_{number}", "type": "reasoning", "summary": [{"type": "summary_text", "text": reasoning}]}
    part = {"type": "output_text", "text": answer, "annotations": []}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status, "content": [part]}
    asked, thoughts, said = _asked(body["input"]), len(reasoning.split()), len(answer.split())
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "instructions": body.get("instructions"),
        "model": body["model"],
        "output": [*([thought] if reasoning else []), message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": thoughts + said,
            "output_tokens_details": {"reasoning_tokens": thoughts},
            "total_tokens": asked + thoughts + said,
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
        yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        for piece in words_of("".join(part["text"] for part in item.get("summary", ()))):
            yield event("response.reasoning_summary_text.delta", **place, summary_index=0, delta=piece)
        for piece in words_of("".join(part["text"] for part in item.get("content", ()))):
            yield event("response.output_text.delta", **place, content_index=0, delta=piece, logprobs=[])
        yield event("response.output_item.done", output_index=index, item=item)
    yield event(f"response.{answer['status']}", response=answer)


def message_body(
    body: Mapping[str, Any], number: int, answer: str, finish_reason: str, reasoning: str = ""
) -> dict[str, Any]:
    """The message to request ``number``; a token is a word."""
    thinking = {"type": "thinking", "thinking": reasoning, "signature": "signed"}
    thoughts, said = len(reasoning.split()), len(answer.split())
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [*([thinking] if reasoning else []), {"type": "text", "text": answer, "citations": None}],
        "stop_reason": {"stop": "end_turn", "length": "max_tokens"}.get(finish_reason, finish_reason),
        "stop_sequence": None,
        "usage": {
            "input_tokens": _asked(body.get("system", "")) + _asked(body["messages"]),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": thoughts + said,
            "output_tokens_details": {"thinking_tokens": thoughts},
        },
    }


def message_events(answer: Mapping[str, Any]) -> Iterator[str]:
    """The events of a message, one text each."""

    def event(kind: str, **fields: Any) -> str:
        return json.dumps({"type": kind, **fields})

    usage = {**answer["usage"], "output_tokens": 1}
    yield event("message_start", message={**answer, "content": [], "stop_reason": None, "usage": usage})
    yield event("ping")
    for index, block in enumerate(answer["content"]):
        kind = block["type"]
        yield event("content_block_start", index=index, content_block={**block, kind: "", "signature": ""})
        for piece in words_of(block[kind]):
            yield event("content_block_delta", index=index, delta={"type": f"{kind}_delta", kind: piece})
        if "signature" in block:
            signature = {"type": "signature_delta", "signature": block["signature"]}
            yield event("content_block_delta", index=index, delta=signature)
        yield event("content_block_stop", index=index)
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=end, usage={"output_tokens": answer["usage"]["output_tokens"]})
    yield event("message_stop")


def message_fault(headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """What the Messages API says to a request that it does not take; empty for a good one."""
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
    return ""


def error_of_messages(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    """An error as Anthropic words it."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _asked(content: Any) -> int:
    """The number of words in a prompt of any of these forms."""
    if isinstance(content, str):
        return len(content.split())
    return sum(_asked(item.get("content", item.get("text", ""))) for item in content)


def generate_body(
    body: Mapping[str, Any],  # noqa: ARG001
    number: int,  # noqa: ARG001
    answer: str,
    finish_reason: str,  # noqa: ARG001
    reasoning: str = "",  # noqa: ARG001
) -> dict[str, Any]:
    """The reply of Triton to a request."""
    return {"model_name": "mock", "model_version": "1", "text_output": answer}
