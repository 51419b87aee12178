"""What every chat format has in common."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.types import ChatMessage, Prompt

Mode: TypeAlias = Literal["gen", "ppl"]
"""``gen``: the prompt ends where the model starts to write; ``ppl``: it is whole, answers included."""


class MessagesFormat(Protocol):
    """From a filled template to messages."""

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """The messages.

        Raises:
            PromptError: as `ChatFormat.render`.
        """


class ChatFormat(Protocol):
    """From a filled template to the prompt that a model is sent."""

    def render(self, prompt: str | PromptList, mode: Mode) -> Prompt:
        """Apply the model's format.

        Raises:
            PromptError: the prompt does not fit the format (unknown role, nothing to say, ...).
        """
