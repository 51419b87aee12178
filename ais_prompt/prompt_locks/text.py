"""A prompt as one text, for digests and differences.

Messages stand one after the other, each behind a mark with its role. The marks are characters of Unicode's private use,
so that no ordinary text holds them: a difference between two prompts is then always one between two texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from ais_prompt.types import ChatMessage, Prompt

TURN: Final = "\ue2f0"
"""Begins a message: `TURN`, its role, `SAYS` or `PARTS`, its content."""
SAYS: Final = "\ue2f1"
PARTS: Final = "\ue2f2"
"""In place of `SAYS` where the content is no text: its parts follow as JSON."""


MARK: Final = re.compile(f"{TURN}[^{SAYS}{PARTS}]*[{SAYS}{PARTS}]")
"""What begins a message, up to its content."""
_TURN: Final = re.compile(f"{TURN}([^{SAYS}{PARTS}]*)([{SAYS}{PARTS}])([^{TURN}]*)")


def text_of_prompt(prompt: Prompt) -> str:
    """The prompt as one text; a prompt that is a text stays as it is."""
    return prompt if isinstance(prompt, str) else "".join(map(_text_of_message, prompt))


def prompt_of_text(text: str) -> Prompt:
    """The inverse of `text_of_prompt`."""
    return tuple(messages_of_text(text)) if text.startswith(TURN) else text


def messages_of_text(text: str) -> Iterator[ChatMessage]:
    """The messages of a text; none if it was no messages."""
    for role, mark, content in _TURN.findall(text):
        yield ChatMessage(role, content if mark == SAYS else tuple(json.loads(content)))


def _text_of_message(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return f"{TURN}{message.role}{SAYS}{message.content}"
    parts = json.dumps([dict(part) for part in message.content], ensure_ascii=False, sort_keys=True)
    return f"{TURN}{message.role}{PARTS}{parts}"
