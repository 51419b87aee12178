"""Chat formats: from filled templates to the text or messages that a model is sent.

The role templates, and `Message` in torchtune's form, are public here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ais_prompt.config.parse.meta_template import parse_meta_template
from ais_prompt.errors import ConfigError
from ais_prompt.prompts.api_format import DEFAULT_META_TEMPLATE, ApiFormat
from ais_prompt.prompts.format import ChatFormat, Mode
from ais_prompt.prompts.messages import Message
from ais_prompt.prompts.meta_template import WHERE, resolve_tokens
from ais_prompt.prompts.raw_messages import RawMessagesFormat
from ais_prompt.prompts.role_format import RoleTemplateFormat, RoleTemplateMessages, bos_text
from ais_prompt.prompts.role_lookup import parse_role_template
from ais_prompt.prompts.role_templates import (
    ChatMLTemplate,
    GrammarErrorCorrectionTemplate,
    Llama2ChatTemplate,
    MistralChatTemplate,
    QuestionAnswerTemplate,
    RoleTemplate,
    RoleTemplateInterface,
    SummarizeTemplate,
)
from ais_prompt.prompts.text_format import LanguageModelFormat
from ais_prompt.prompts.tokenizer_template import MediaKinds, TokenizerChatFormat
from ais_prompt.types import MetaTemplateSpec

_DEFAULT: MetaTemplateSpec = parse_meta_template(DEFAULT_META_TEMPLATE)  # type: ignore[assignment]  # not empty


def make_chat_format(
    style: str,
    meta_template: MetaTemplateSpec | Mapping[str, Any] | Sequence[Any] | None,
    tokenizer: Callable[[], Any],
    role_template: Mapping[str, Any] | str | None = None,
    media_kinds: MediaKinds = frozenset,
) -> ChatFormat:
    """Return the chat format for a model's ``prompt_style`` (``text``, ``messages`` or ``chat_template``).

    Args:
        style: the model's ``prompt_style``.
        meta_template: the model's ``meta_template``, parsed or as in a config: a mapping, a list of messages in OpenAI
            form, or None.
        tokenizer: returns the model's tokenizer; called when it is first needed.
        role_template: the model's ``prompt_template``; it replaces the meta template.
        media_kinds: returns the media that a model with its own chat template accepts besides text.

    Raises:
        ConfigError: the template has the wrong shape or cannot be found, or a role template that writes the format of a
            model is given to an API model.
        PromptError: the table of a role template has the wrong shape.
    """
    if role_template is not None:
        return _role_template_format(style, role_template, tokenizer)
    spec = meta_template if isinstance(meta_template, MetaTemplateSpec) else parse_meta_template(meta_template)
    if style == "text":
        if spec is not None and spec.messages:
            what = "meta_template must be a mapping with 'round'; only a chat model may have a list of messages"
            raise ConfigError(what, where=WHERE, fix="write meta_template=dict(round=[...]), or use a chat model")
        return LanguageModelFormat(resolve_tokens(spec, tokenizer) if spec else None, tokenizer)
    messages = _messages_format(spec, tokenizer)
    return messages if style == "messages" else TokenizerChatFormat(messages, tokenizer, media_kinds)


def _messages_format(spec: MetaTemplateSpec | None, tokenizer: Callable[[], Any]) -> ApiFormat | RawMessagesFormat:
    if spec is not None and spec.messages:
        return RawMessagesFormat(spec.messages)
    # A chat model without roles in its config has the default roles.
    if spec is None:
        spec = _DEFAULT
    elif spec.round is None:
        reserved = _DEFAULT.reserved if spec.reserved is None else spec.reserved
        spec = replace(spec, round=_DEFAULT.round, reserved=reserved)
    return ApiFormat(resolve_tokens(spec, tokenizer))


def _role_template_format(style: str, config: Mapping[str, Any] | str, tokenizer: Callable[[], Any]) -> ChatFormat:
    template = parse_role_template(config)
    if style == "messages":
        if _is_model_format(template):
            raise ConfigError(
                f"{type(template).__name__} writes the format of a model, but this model is sent messages",
                fix="remove it: the server applies the format of its model; only task templates work here",
            )
        return RoleTemplateMessages(template, ApiFormat(resolve_tokens(_DEFAULT)))
    if style == "chat_template":  # such a model adds no special tokens, so the text must contain the BOS token
        return RoleTemplateFormat(template, lambda: bos_text(tokenizer()))
    return RoleTemplateFormat(template)


def _is_model_format(template: RoleTemplateInterface) -> bool:
    """Return whether a role template writes text around the assistant's turn: the format of a model, not of a task."""
    if isinstance(template, RoleTemplate):
        return any(template.template.get("assistant", ()))
    return isinstance(template, ChatMLTemplate | Llama2ChatTemplate | MistralChatTemplate)


__all__ = [
    "DEFAULT_META_TEMPLATE",
    "ApiFormat",
    "ChatFormat",
    "ChatMLTemplate",
    "GrammarErrorCorrectionTemplate",
    "Llama2ChatTemplate",
    "Message",
    "MistralChatTemplate",
    "Mode",
    "QuestionAnswerTemplate",
    "RoleTemplate",
    "RoleTemplateFormat",
    "RoleTemplateInterface",
    "SummarizeTemplate",
    "make_chat_format",
]
