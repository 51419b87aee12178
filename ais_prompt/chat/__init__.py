"""The model's side of a prompt: meta templates, messages, the tokenizer's own template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ais_prompt.chat.api import DEFAULT_META_TEMPLATE, ApiFormat
from ais_prompt.chat.formats import ChatFormat, Mode
from ais_prompt.chat.language_model import LanguageModelFormat
from ais_prompt.chat.meta_template import parse_meta_template
from ais_prompt.chat.tokenizer_template import TokenizerChatFormat


def make_chat_format(style: str, meta_template: Mapping[str, Any] | None, tokenizer: Callable[[], Any]) -> ChatFormat:
    """The format for a model's ``prompt_style`` (``text``, ``messages`` or ``chat_template``).

    Raises:
        ConfigError: the meta template has the wrong shape.
    """
    meta = parse_meta_template(meta_template)
    if style == "text":
        return LanguageModelFormat(meta)
    messages = ApiFormat(meta or parse_meta_template(DEFAULT_META_TEMPLATE))
    return messages if style == "messages" else TokenizerChatFormat(messages, tokenizer)


__all__ = ["ChatFormat", "Mode", "make_chat_format"]
