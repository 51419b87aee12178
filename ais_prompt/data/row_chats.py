"""Chats in rows: turns with a role and what it says, as the files of several programs have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.data.row_values import parsed
from ais_prompt.errors import DataError

ROLES: Final[Mapping[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "question": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
    "ai": "assistant",
    "answer": "assistant",
}
"""Role of a turn, as datasets write it → role of the API."""
ROLE_KEYS: Final = ("role", "from", "speaker")
CONTENT_KEYS: Final = ("content", "value", "text")


def chat_of(name: str, value: Any) -> list[dict[str, Any]]:
    """Return the turns of a chat with the roles of the API.

    Args:
        name: its column.
        value: a list of ``{"role": …, "content": …}``, or of ``{"from": "human", "value": …}`` as ShareGPT has it; or
            the same as a text of JSON. In a column ``turns`` the only one may be a text, or have no role.

    Raises:
        DataError: it is of another form.
    """
    turns = parsed(value)
    if name == "turns" and isinstance(turns, list | tuple) and len(turns) == 1:
        turns = [_of_user(turns[0])]
    found = [_turn(turn) for turn in turns] if isinstance(turns, list | tuple) else []
    if not found or None in found:
        what = f"{name!r} is no list of chat turns but {value!r:.80}"
        raise DataError(what, fix='write [{"role": "user", "content": "…"}, …]')
    chat = [turn for turn in found if turn is not None]
    if not any(turn["role"] == "user" for turn in chat):
        raise DataError(f"the chat in {name!r} has no turn of the user", fix="write one, or leave the row out")
    return chat


def _of_user(turn: Any) -> Any:
    """Return the only turn of a question, as LiveBench and Arena-Hard have it, with its role."""
    if isinstance(turn, str):
        return {"role": "user", "content": turn}
    return {"role": "user", **turn} if isinstance(turn, Mapping) and not turn.keys() & set(ROLE_KEYS) else turn


def _turn(turn: Any) -> dict[str, Any] | None:
    if not isinstance(turn, Mapping):
        return None
    role = next((turn[key] for key in ROLE_KEYS if isinstance(turn.get(key), str)), None)
    content = next((turn[key] for key in CONTENT_KEYS if isinstance(turn.get(key), str | list)), None)
    if role is None or content is None:
        return None
    kept = {key: one for key, one in turn.items() if key not in (*ROLE_KEYS, *CONTENT_KEYS) and one is not None}
    return {"role": ROLES.get(role.lower(), role), "content": content, **kept}


def split_chat(turns: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], str | None]:
    """Return the turns that are sent, and the answer that the last turn of the assistant gives; None without one."""
    if len(turns) > 1 and turns[-1]["role"] == "assistant" and isinstance(turns[-1]["content"], str):
        return list(turns[:-1]), turns[-1]["content"]
    return list(turns), None
