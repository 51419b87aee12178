"""Streamed answers of the mock server: server-sent events in the form of OpenAI, whole or broken as the script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web

from ais_prompt.testing.answers import words_of
from ais_prompt.testing.apis import message_events, response_events
from ais_prompt.testing.script import ReplyRule


async def stream_answer(
    request: web.Request, body: Mapping[str, Any], rule: ReplyRule, answer: dict[str, Any]
) -> web.StreamResponse:
    """Send an answer word by word; after ``rule.pieces`` events it stalls for ``rule.stall`` seconds and breaks off."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **rule.headers})
    await response.prepare(request)
    events = rule.events if rule.events is not None else [*_events_of(request.path, body, answer)]
    for event in events[: rule.pieces]:
        await response.write(f"data: {event}\n\n".encode())
        await asyncio.sleep(rule.pause)
    if rule.pieces is not None:
        await asyncio.sleep(rule.stall)
    if rule.drop == "midway" and request.transport is not None:
        request.transport.close()
    return response


def _events_of(path: str, body: Mapping[str, Any], answer: dict[str, Any]) -> Iterator[str]:
    if path.endswith("/responses"):
        return response_events(answer)
    return message_events(answer) if path.endswith("/messages") else _events(body, answer)


def _events(body: Mapping[str, Any], answer: dict[str, Any]) -> Iterator[str]:
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
