"""Chat formats: from filled templates to the text or messages that a model is sent.

`make_chat_format` chooses the format of a model, and finds the role template that its ``prompt_template`` names. The
role templates, and `Message` in torchtune's form, are public here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.config import ROLE_TEMPLATE, parse_meta_template
from ais_prompt.errors import AisPromptError, ConfigError, raise_all
from ais_prompt.parts import exception_line, users_line
from ais_prompt.prompts import role_templates
from ais_prompt.prompts.api_format import DEFAULT_META_TEMPLATE, ApiFormat, RawMessagesFormat
from ais_prompt.prompts.base import ChatFormat, Mode
from ais_prompt.prompts.meta_template import WHERE, resolve_tokens
from ais_prompt.prompts.role_templates import (
    ROLE_NAMES,
    ChatMLTemplate,
    GrammarErrorCorrectionTemplate,
    Llama2ChatTemplate,
    Message,
    MistralChatTemplate,
    QuestionAnswerTemplate,
    RoleTemplate,
    RoleTemplateFormat,
    RoleTemplateInterface,
    RoleTemplateMessages,
    SummarizeTemplate,
    bos_text,
)
from ais_prompt.prompts.text_format import LanguageModelFormat, MediaKinds, TokenizerChatFormat
from ais_prompt.registry import import_dotted
from ais_prompt.types import MetaTemplateSpec

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
_DEFAULT: MetaTemplateSpec = parse_meta_template(DEFAULT_META_TEMPLATE)  # type: ignore[assignment]  # not empty
READY_MADE: Final[Mapping[str, type[RoleTemplateInterface]]] = {
    "ChatMLTemplate": role_templates.ChatMLTemplate,
    "GrammarErrorCorrectionTemplate": role_templates.GrammarErrorCorrectionTemplate,
    "Llama2ChatTemplate": role_templates.Llama2ChatTemplate,
    "MistralChatTemplate": role_templates.MistralChatTemplate,
    "QuestionAnswerTemplate": role_templates.QuestionAnswerTemplate,
    "SummarizeTemplate": role_templates.SummarizeTemplate,
}
"""Found by name alone, or by their dotted path in torchtune, which need not be installed."""


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
        # Text around the assistant's turn is the format of a model, not of a task.
        is_of_model = isinstance(template, ChatMLTemplate | Llama2ChatTemplate | MistralChatTemplate)
        if is_of_model or (isinstance(template, RoleTemplate) and any(template.template.get("assistant", ()))):
            raise ConfigError(
                f"{type(template).__name__} writes the format of a model, but this model is sent messages",
                fix="remove it: the server applies the format of its model; only task templates work here",
            )
        return RoleTemplateMessages(template, ApiFormat(resolve_tokens(_DEFAULT)))
    if style == "chat_template":  # such a model adds no special tokens, so the text must contain the BOS token
        return RoleTemplateFormat(template, lambda: bos_text(tokenizer()))
    return RoleTemplateFormat(template)


def parse_role_template(config: Mapping[str, Any] | str) -> RoleTemplateInterface:
    """Return the role template of a config.

    Args:
        config: a table of role → (before, after); the name of a ready-made template; or a dotted path to a class, to a
            function that returns a template, or to a template itself.

    Raises:
        PromptError: the table has the wrong shape.
        ConfigError: the template does not exist or cannot be created.
        MissingExtra: it needs a package that is not installed.
    """
    if isinstance(config, Mapping):
        raise_all(_table_faults(config))
        return RoleTemplate(config)
    part = _find(config)
    try:
        template: Any = part() if inspect.isclass(part) or _needs_nothing(part) else part
    except AisPromptError:
        raise
    except Exception as error:  # the user's own code can raise anything
        what = f"the role template {config} cannot be created: {exception_line(error)}"
        raise ConfigError(what, where=users_line(error), fix="repair its __init__, or what it calls") from error
    if not callable(template):
        raise ConfigError(
            f"{config} is a {type(template).__name__}, which is not a role template",
            fix="a role template is called with a list of messages and returns one",
        )
    return template  # type: ignore[no-any-return]


def _table_faults(config: Mapping[str, Any]) -> Iterator[ConfigError]:
    if not config:
        fix = "dict(user=('text before', 'text after')), or leave prompt_template out"
        yield ConfigError("the role template is empty", where="prompt_template", fix=fix)
    for role, fix in ROLE_TEMPLATE.unknown(config):
        name = ROLE_NAMES.get(role) or ROLE_NAMES.get(str(role).upper())
        what = f"a role template has no role {role!r}"
        yield ConfigError(what, where=f"prompt_template.{role}", fix=f"write {name!r}" if name else fix)


def _find(path: str) -> Callable[..., Any]:
    *packages, name = path.split(".")
    if not all([*packages, name]):
        raise ConfigError(f"{path!r} is not a dotted path: a part of it is empty", fix="package.module.MyTemplate")
    if name in READY_MADE and (not packages or packages[0] == "torchtune"):
        return READY_MADE[name]
    if not packages:
        raise ConfigError(
            f"there is no role template named {path!r}",
            fix=f"ready-made: {', '.join(READY_MADE)}; or write the dotted path of your own",
        )
    return import_dotted(path)


def _needs_nothing(part: Callable[..., Any]) -> bool:
    """Return whether a function needs no arguments: then it creates a template. A template itself needs messages."""
    try:
        inspect.signature(part).bind()
    except TypeError:
        return False
    return True
