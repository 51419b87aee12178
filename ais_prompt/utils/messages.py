"""Messages of a conversation that go beyond text: calls of tools, their results, and roles that a model refuses.

A message of the assistant may have parts ``{"type": "tool_call", "id": ..., "name": ..., "arguments": ...}``, with the
arguments as a JSON text. A message with the role ``tool`` has one part ``{"type": "tool_result", "id": ..., "text":
...}``. So code that shows, stores or compares prompts knows them as it knows images.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.types import ChatMessage, ToolCall, message_to_json
from ais_prompt.utils.jsonl import parse_written

CALL: Final = "tool_call"
RESULT: Final = "tool_result"
TOOL_ROLE: Final = "tool"
SYSTEM_FIX: Final = (
    "give the model a meta_template without SYSTEM, dict(round=[dict(role='HUMAN', api_role='HUMAN'), "
    "dict(role='BOT', api_role='BOT', generate=True)]), and the system turn fallback_role='HUMAN'"
)
_SYSTEM: Final = re.compile(
    r"\b(system|developer)\b.{0,80}\b(role|support\w*|instruction\w*|not (enabled|allowed|permitted))\b"
    r"|\b(role|support\w*)\b.{0,80}\b(system|developer)\b",
    re.IGNORECASE | re.DOTALL,
)


def call_messages(text: str, calls: Sequence[ToolCall], results: Sequence[str], turn: int) -> Iterator[ChatMessage]:
    """Yield the text and the calls of the assistant in a turn, then the result of each call.

    The ids count the calls, whatever ids a server gave them, so that equal conversations have equal requests. They have
    nine letters and digits, which Mistral's chat templates ask for.

    Args:
        text: of the assistant.
        calls: of the assistant.
        results: of each call; empty where no call was carried out.
        turn: number of the turn, from 0.
    """
    if not calls:
        yield ChatMessage("assistant", text)
        return
    ids = [f"call{turn:03}{number:02}" for number in range(len(calls))]
    said = [{"type": "text", "text": text}] if text else []
    called = [
        {"type": CALL, "id": name, "name": call.name, "arguments": call.arguments}
        for name, call in zip(ids, calls, strict=True)
    ]
    yield ChatMessage("assistant", (*said, *called))
    for name, result in zip(ids, results, strict=bool(results)):
        yield ChatMessage(TOOL_ROLE, ({"type": RESULT, "id": name, "text": result},))


def parts_of(message: ChatMessage, kind: str) -> list[Mapping[str, Any]]:
    """Return the calls or the results of a message."""
    content = message.content
    return [] if isinstance(content, str) else [part for part in content if part.get("type") == kind]


def describe_call(part: Mapping[str, Any]) -> str:
    """Return ``calls NAME ARGUMENTS`` for a call; empty for other parts."""
    return f"calls {part['name']} {part['arguments']}" if part.get("type") == CALL else ""


def text_of_calls(message: ChatMessage) -> str:
    """Return the text of the assistant beside its calls."""
    content = message.content
    return content if isinstance(content, str) else "".join(str(one["text"]) for one in content if "text" in one)


def openai_json(message: ChatMessage, *, parsed: bool = False) -> dict[str, Any]:
    """Return a message in the form of the OpenAI API.

    Args:
        message: of a conversation, with or without calls.
        parsed: give arguments as mappings, as chat templates want them, where they are JSON; else as texts.
    """
    if results := parts_of(message, RESULT):
        return {"role": message.role, "tool_call_id": results[0]["id"], "content": results[0]["text"]}
    if not (calls := parts_of(message, CALL)):
        return message_to_json(message)
    functions = [
        {
            "name": call["name"],
            "arguments": arguments_of(call) if parsed else call["arguments"],
        }
        for call in calls
    ]
    return {
        "role": message.role,
        "content": text_of_calls(message),
        "tool_calls": [
            {"id": call["id"], "type": "function", "function": function}
            for call, function in zip(calls, functions, strict=True)
        ],
    }


def arguments_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as a mapping; those that are no JSON object as one text, ``arguments``."""
    try:
        found = parse_written(call["arguments"] or "{}")
    except ValueError:
        found = call["arguments"]
    return found if isinstance(found, dict) else {"arguments": found}


def refuses_system(error: str) -> bool:
    """Return whether an error of a server or a chat template says that there is no system role."""
    return bool(_SYSTEM.search(error))


def role_fix(error: str) -> str:
    """Return the fix for messages whose roles a chat template refuses."""
    return SYSTEM_FIX if refuses_system(error) else "give the prompt the roles that it takes, in its order"
