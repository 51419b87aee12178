"""`Message` as role templates know it: content in parts, so that a template adds text without touching what was said.

The message that is sent to an API is another one: `ais_prompt.types.ChatMessage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ais_prompt.errors import PromptError

Part: TypeAlias = dict[str, Any]
"""``{"type": "text", "content": "..."}``, or ``{"type": "image", "content": ...}``."""


@dataclass(init=False, slots=True)
class Message:
    """One message of a conversation, in torchtune's form.

    Attributes:
        role: ``system``, ``user``, ``assistant``, ``ipython`` (what a tool answered) or ``tool``.
        content: its parts in order; a text becomes one text part.
        masked: it takes no part in a training loss. Kept for templates that know it; not used here.
        ipython: it is the assistant's call of a tool.
        eot: the turn ends with it.

    Raises:
        PromptError: a call of a tool by somebody else than the assistant, or one with an image.
    """

    role: str
    content: list[Part]
    masked: bool
    ipython: bool
    eot: bool

    def __init__(
        self,
        role: str,
        content: str | Sequence[Part],
        masked: bool = False,
        ipython: bool = False,
        eot: bool = True,
    ) -> None:
        self.role = role
        self.content = [text_part(content)] if isinstance(content, str) else list(content)
        self.masked = masked
        self.ipython = ipython
        self.eot = eot
        if ipython and role != "assistant":
            raise PromptError(f"only the assistant calls tools, not {role!r}: {self.text_content!r:.80}")
        if ipython and self.contains_media:
            raise PromptError(f"a call of a tool cannot hold an image: {self.text_content!r:.80}")

    @property
    def text_content(self) -> str:
        """All its text in one, without a separator."""
        return "".join(part["content"] for part in self.content if part["type"] == "text")

    @property
    def contains_media(self) -> bool:
        """True if there is an image among its parts."""
        return any(part["type"] == "image" for part in self.content)


def text_part(text: str) -> Part:
    """A text as a part of a message."""
    return {"type": "text", "content": text}
