"""Read a message of Anthropic's Messages API, as a reply or assembled from a stream."""

from __future__ import annotations

from typing import Any

import msgspec

from ais_prompt.models.api.finish import ended
from ais_prompt.models.api.wire import BadBody, fields_of, text_of, token_count
from ais_prompt.types import Completion, ToolCall, Usage


def message_completion(reply: Any) -> Completion:
    """Make the completion of a message.

    Thinking becomes the reasoning; redacted thinking has no text. A refusal without a text of its own has the
    explanation of the server as its text.

    Raises:
        BadBody: it is not a message.
    """
    if not isinstance(reply, dict) or not isinstance(reply.get("content"), list):
        raise BadBody("the reply is no message")
    blocks = [fields_of(block) for block in reply["content"]]
    reason = text_of(reply.get("stop_reason"))
    refused = reason == "refusal"
    text = _joined(blocks, "text", "text", "")
    if refused and not text:
        text = text_of(fields_of(reply.get("stop_details")).get("explanation"))
    said = Completion(
        text,
        usage=_usage(reply.get("usage")),
        reasoning=_joined(blocks, "thinking", "thinking", "\n\n"),
        refused=refused,
        tool_calls=tuple(
            ToolCall(text_of(block.get("name")), _arguments(block.get("input")))
            for block in blocks
            if block.get("type") == "tool_use"
        ),
    )
    return ended(said, reason)


def _arguments(given: Any) -> str:
    """Return the arguments of a call as JSON; a text is what a stream had in their place, and is no JSON."""
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()


def _joined(blocks: list[dict[str, Any]], kind: str, field: str, between: str) -> str:
    texts = (text_of(block.get(field)) for block in blocks if block.get("type") == kind)
    return between.join(filter(None, texts))


def _usage(usage: Any) -> Usage:
    """Return the token counts; the server counts tokens from and for its cache beside ``input_tokens``."""
    counts = fields_of(usage)
    fresh, read, written, out = (
        token_count(counts.get(name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    )
    thinking = token_count(fields_of(counts.get("output_tokens_details")).get("thinking_tokens"))
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(prompt, out, reasoning_tokens=thinking, cached_tokens=read, cache_write_tokens=written)
