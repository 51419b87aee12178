"""The interface of chat formats."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.types import ChatMessage, Prompt

Mode: TypeAlias = Literal["gen", "ppl"]
"""``gen``: the prompt ends where the model starts to write; ``ppl``: the prompt is whole, answers included."""


class MessagesFormat(Protocol):
    """Converts a filled template to messages."""

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """Return the messages of a prompt.

        Raises:
            PromptError: as `ChatFormat.render`.
        """


class ChatFormat(Protocol):
    """Converts a filled template to the prompt that is sent to a model."""

    def render(self, prompt: str | PromptList, mode: Mode) -> Prompt:
        """Apply the model's format.

        Raises:
            PromptError: the prompt does not fit the format (an unknown role, an empty prompt, ...).
        """
