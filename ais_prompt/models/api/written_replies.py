"""Write replies of OpenAI's Chat Completions, Completions and Responses, and of Anthropic's Messages API.

They are what servers send: whole, and as events of a stream. The mock server answers with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class WrittenReply(NamedTuple):
    """An answer of a model, in no API's form.

    Attributes:
        answer: the text.
        finish_reason: as OpenAI names it.
        reasoning: the thoughts before the answer.
        tool_calls: ``name``, ``arguments`` and perhaps ``id`` of each call.
    """

    answer: str
    finish_reason: str = "stop"
    reasoning: str = ""
    tool_calls: Sequence[Mapping[str, str]] = ()


def answer_body(body: Mapping[str, Any], number: int, reply: WrittenReply) -> dict[str, Any]:
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
        "model": body.get("model", "mock"),
        "choices": [{"index": 0, **content, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _called(number: int, call: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call.get("id", f"call-{number}"), "type": "function", "function": function}


def error_body(message: str, kind: str) -> dict[str, Any]:
    """An error as OpenAI words it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def words_of(text: str) -> list[str]:
    """The pieces of a text in which it is streamed."""
    return re.findall(r"\s*\S+\s*$|\s*\S+|\s+$", text)


def chat_events(body: Mapping[str, Any], answer: dict[str, Any]) -> Iterator[str]:
    chat = "messages" in body
    [choice] = answer["choices"]
    message = choice.get("message", {})
    shared = {key: answer[key] for key in ("id", "created", "model")}
    shared["object"] = "chat.completion.chunk" if chat else answer["object"]

    def chunk(fields: Mapping[str, Any], reason: str | None = None) -> str:
        piece = {"delta": fields} if chat else fields
        return json.dumps({**shared, "choices": [{"index": 0, **piece, "finish_reason": reason}]})

    if chat:
        yield chunk({"role": "assistant", "content": ""})
    for word in words_of(message.get("reasoning_content", "")):
        yield chunk({"reasoning_content": word})
    for number, call in enumerate(message.get("tool_calls", ())):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        yield chunk({"tool_calls": [{"index": number, **call, "function": {"name": name, "arguments": ""}}]})
        for word in words_of(arguments):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": word}}]})
    for word in words_of((message["content"] or "") if chat else choice["text"]):
        yield chunk({"content": word} if chat else {"text": word})
    yield chunk({} if chat else {"text": ""}, choice["finish_reason"])
    if body.get("stream_options", {}).get("include_usage"):
        yield json.dumps({**shared, "choices": [], "usage": answer["usage"]})
    yield "[DONE]"


def response_body(body: Mapping[str, Any], number: int, reply: WrittenReply) -> dict[str, Any]:
    """The response to request ``number``; a token is a word."""
    answer, finish_reason, reasoning, tool_calls = reply
    incomplete = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(finish_reason)
    status = "incomplete" if incomplete else "completed"
    thought = {"id": f"rs_{number}", "type": "reasoning", "summary": [{"type": "summary_text", "text": reasoning}]}
    part = {"type": "output_text", "text": answer, "annotations": []}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status, "content": [part]}
    calls = [
        {
            "id": f"fc_{place}",
            "type": "function_call",
            "call_id": call.get("id", f"call_{place}"),
            "status": "completed",
        }
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


def message_body(body: Mapping[str, Any], number: int, reply: WrittenReply) -> dict[str, Any]:
    """The message to request ``number``; a token is a word."""
    answer, finish_reason, reasoning, tool_calls = reply
    thinking = {"type": "thinking", "thinking": reasoning, "signature": "signed"}
    text = {"type": "text", "text": answer, "citations": None}
    calls = [
        {
            "type": "tool_use",
            "id": call.get("id", f"toolu_{place}"),
            "name": call["name"],
            "input": _input(call["arguments"]),
        }
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


def error_of_messages(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    """An error as Anthropic words it."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _asked(content: Any) -> int:
    """The number of words in a prompt of any of these forms."""
    if isinstance(content, str):
        return len(content.split())
    return sum(_asked(item.get("content", item.get("text", ""))) for item in content)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or () if part.get("type") != "tool_result")
