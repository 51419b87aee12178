"""Streamed answers of the mock server: server-sent events in the form of OpenAI, whole or broken as the script says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web

from ais_prompt.models import chat_events, message_events, response_events
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
    return message_events(answer) if path.endswith("/messages") else chat_events(body, answer)
