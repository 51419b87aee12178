"""Conversations of agents in a log, as the requests that the agent made to its model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ais_prompt.types import Completion, ModelCall, ToolCall
from ais_prompt.utils import CALL, RESULT


class SeenTurn(Struct, frozen=True):
    """One message of a conversation that the agent sees.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        text: of the message; empty if there is none.
        calls: id and call of each tool that the message calls.
        call_id: of the call whose result this is, for the role ``tool``.
        answer: of the model; None for a message that no model wrote, such as a greeting.
        cost: of the request; None if unknown.
    """

    role: str
    text: str
    calls: tuple[tuple[str, ToolCall], ...] = ()
    call_id: str = ""
    answer: Completion | None = None
    cost: float | None = None


def requests_in(turns: Iterable[SeenTurn], model: str) -> tuple[ModelCall, ...]:
    """Return a request for each answer of the model, with all messages before it.

    Args:
        turns: in order.
        model: its name.
    """
    found: list[ModelCall] = []
    messages: list[Mapping[str, Any]] = []
    shared = 0
    for turn in turns:
        if turn.answer is not None:
            found.append(ModelCall(shared, tuple(messages[shared:]), None, turn.answer, named=model, cost=turn.cost))
            shared = len(messages)
        messages.append({"role": turn.role, "content": _content(turn)})
    return tuple(found)


def _content(turn: SeenTurn) -> str | list[dict[str, Any]]:
    if turn.call_id:
        return [{"type": RESULT, "id": turn.call_id, "text": turn.text}]
    if not turn.calls:
        return turn.text
    said = [{"type": "text", "text": turn.text}] if turn.text else []
    called = [{"type": CALL, "id": name, "name": one.name, "arguments": one.arguments} for name, one in turn.calls]
    return [*said, *called]
