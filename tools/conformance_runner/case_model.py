"""The model's side of a case: its kind and meta template as a chat format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from ais_prompt.errors import ConfigError
from ais_prompt.prompts import (
    ApiFormat,
    ApiTurn,
    ChatFormat,
    Filled,
    Mode,
    TokenizerChatFormat,
    is_raw,
    make_chat_format,
)
from ais_prompt.types import prompt_to_json

STYLES: Final = {"lm": "text", "api": "messages", "hf_chat": "chat_template"}
"""The kinds of models in the cases, and what each is given."""


class CaseModel(Protocol):
    """What the cases record of a model."""

    def final(self, prompt: Filled, mode: Mode) -> Any:
        """What the meta template makes of a prompt: a text, or ``{role, prompt}`` for each message."""

    def openai_messages(self, prompt: Filled, mode: Mode) -> Any:
        """The messages in OpenAI form; None for a model that is given text."""


def make_model(config: Mapping[str, Any]) -> CaseModel:
    """The model of a case.

    Raises:
        ConfigError: its meta template is wrong, or its kind is unknown.
    """
    chat = make_chat(config)
    if isinstance(chat, TokenizerChatFormat):
        return HuggingFaceChatModel(chat)
    return TextModel(chat) if config["kind"] == "lm" else ApiModel(chat)


def make_chat(config: Mapping[str, Any]) -> ChatFormat:
    """The chat format of the model of a case.

    Raises:
        ConfigError: as `make_model`.
    """
    kind, meta = config["kind"], config.get("meta_template")
    if kind not in STYLES:
        raise ConfigError(f"no kind of model is called {kind!r}", fix=", ".join(STYLES))
    if kind == "api" and not meta:
        # `make_chat_format` has a default for a chat model without meta template; the cases mean none at all.
        return ApiFormat(None)
    return make_chat_format(STYLES[kind], meta, lambda: None)


class TextModel:
    """A model that continues text."""

    def __init__(self, chat: ChatFormat) -> None:
        self._chat = chat

    def final(self, prompt: Filled, mode: Mode) -> Any:
        """The text."""
        return prompt_to_json(self._chat.render(prompt, mode))

    def openai_messages(self, prompt: Filled, mode: Mode) -> Any:  # noqa: ARG002
        """Nothing: it is given text."""
        return None


class ApiModel:
    """A model that is sent messages."""

    def __init__(self, chat: ChatFormat) -> None:
        self._chat = chat

    def final(self, prompt: Filled, mode: Mode) -> Any:
        """The messages by the roles of the meta template, or as they stand if they are in OpenAI form already."""
        if not isinstance(self._chat, ApiFormat) or is_raw(prompt):
            return prompt_to_json(self._chat.render(prompt, mode))
        turns = self._chat.turns(prompt, mode)
        return turns if isinstance(turns, str) else list(map(_shown, turns))

    def openai_messages(self, prompt: Filled, mode: Mode) -> Any:
        """The messages as they are sent."""
        return prompt_to_json(self._chat.render(prompt, mode))


class HuggingFaceChatModel(ApiModel):
    """A local chat model: messages for the chat template of its tokenizer."""

    def __init__(self, chat: TokenizerChatFormat) -> None:
        super().__init__(chat.messages)
        self._template = chat

    def openai_messages(self, prompt: Filled, mode: Mode) -> Any:
        """The messages that the chat template is given."""
        return prompt_to_json(self._template.conversation(prompt, mode))


def _shown(turn: Any) -> Any:
    return turn._asdict() if isinstance(turn, ApiTurn) else turn
