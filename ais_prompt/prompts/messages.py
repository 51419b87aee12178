"""`Message`: a message in torchtune's form, for role templates. Its content is a list of parts, to which they add text.

The messages of a prompt are `ais_prompt.types.ChatMessage`.
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
        role: ``system``, ``user``, ``assistant``, ``ipython`` (the answer of a tool) or ``tool``.
        content: its parts in order; a text becomes one text part.
        masked: excluded from a training loss. Kept for templates that read it; unused here.
        ipython: the message is the assistant's call of a tool.
        eot: the message ends the turn.

    Raises:
        PromptError: a call of a tool has another role than ``assistant``, or an image.
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
            raise PromptError(
                f"only the assistant calls tools, not {role!r}: {self.text_content!r:.80}",
                fix="set ipython=True on messages of the assistant only",
            )
        if ipython and self.contains_media:
            raise PromptError(
                f"a call of a tool cannot hold an image: {self.text_content!r:.80}",
                fix="put the image into a message of its own",
            )

    @property
    def text_content(self) -> str:
        """The text of all parts, without a separator."""
        return "".join(part["content"] for part in self.content if part["type"] == "text")

    @property
    def contains_media(self) -> bool:
        """Whether a part is an image."""
        return any(part["type"] == "image" for part in self.content)


def text_part(text: str) -> Part:
    """Return a text as a part of a message."""
    return {"type": "text", "content": text}
