"""The chat template of a model's own tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ais_prompt.chat.formats import MessagesFormat, Mode
from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.types import Message, prompt_to_json


class TokenizerChatFormat:
    """Messages, rendered to one text by the tokenizer's chat template, special tokens included.

    Args:
        messages: the format that makes the messages.
        tokenizer: gives the Hugging Face tokenizer when it is first needed.
    """

    def __init__(self, messages: MessagesFormat, tokenizer: Callable[[], Any]) -> None:
        self.messages = messages
        self.tokenizer = tokenizer

    def render(self, prompt: str | PromptList, mode: Mode) -> str:
        """The text that the model sees; in ``gen`` mode it ends with the opening of the assistant's turn.

        Raises:
            PromptError: the tokenizer has no chat template, or its template refuses the messages.
        """
        messages = self.conversation(prompt, mode)
        tokenizer = self.tokenizer()
        if not getattr(tokenizer, "chat_template", None):
            raise PromptError(
                "the tokenizer has no chat template",
                fix="use HuggingFaceBaseModel for a model that is no chat model",
            )
        try:
            text: str = tokenizer.apply_chat_template(
                prompt_to_json(messages), tokenize=False, add_generation_prompt=mode == "gen"
            )
        except Exception as error:  # Jinja templates raise whatever they like
            raise PromptError(f"the tokenizer's chat template refuses the messages: {error}") from error
        return text

    def conversation(self, prompt: str | PromptList, mode: Mode) -> tuple[Message, ...]:
        """The messages that the chat template is given: none empty, roles in turn.

        Raises:
            PromptError: the prompt does not fit the meta template, has media, or says nothing.
        """
        messages = self.messages.render(prompt, mode)
        if not all(isinstance(message.content, str) for message in messages):
            raise PromptError("this model is given text, and no images or other media", fix="use OpenAIChatModel")
        return merge_neighbours(messages)


def merge_neighbours(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages without the empty ones, neighbours of one role joined by newline: roles must alternate.

    Raises:
        PromptError: nothing is left.
    """
    merged: list[Message] = []
    for message in messages:
        if not message.content:
            continue
        last = merged[-1] if merged else None
        if last and last.role == message.role and isinstance(last.content, str) and isinstance(message.content, str):
            merged[-1] = Message(message.role, f"{last.content}\n{message.content}")
        else:
            merged.append(message)
    if not merged:
        raise PromptError("the prompt says nothing", fix="look at it with `aisprompt view-prompt`")
    return tuple(merged)
