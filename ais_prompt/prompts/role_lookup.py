"""Find and check the role template that ``prompt_template`` of a model names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ais_prompt.config.schema import ROLE_TEMPLATE
from ais_prompt.errors import AisPromptError, ConfigError, raise_all
from ais_prompt.prompts import role_templates
from ais_prompt.prompts.role_format import ROLE_NAMES
from ais_prompt.prompts.role_templates import RoleTemplate, RoleTemplateInterface
from ais_prompt.registry import import_dotted
from ais_prompt.utils.guard import exception_line
from ais_prompt.utils.places import users_line

READY_MADE: Final[Mapping[str, type[RoleTemplateInterface]]] = {
    "ChatMLTemplate": role_templates.ChatMLTemplate,
    "GrammarErrorCorrectionTemplate": role_templates.GrammarErrorCorrectionTemplate,
    "Llama2ChatTemplate": role_templates.Llama2ChatTemplate,
    "MistralChatTemplate": role_templates.MistralChatTemplate,
    "QuestionAnswerTemplate": role_templates.QuestionAnswerTemplate,
    "SummarizeTemplate": role_templates.SummarizeTemplate,
}
"""Found by name alone, or by their dotted path in torchtune, which need not be installed."""


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
