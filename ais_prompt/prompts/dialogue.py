"""The shape of a dialogue: ``begin``, ``round`` and ``end``, each a text, a turn, or a list of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import Item

SECTIONS = ("begin", "round", "end")


def check_round(template: Mapping[str, Any]) -> None:
    """See that a dialogue has a round.

    Raises:
        PromptError: it has none.
    """
    if "round" not in template:
        raise PromptError("a dialogue template needs the key 'round'", fix="round=[dict(role='HUMAN', prompt='...')]")


def section_items(section: Any) -> list[Item]:
    """The items of a section, whichever way it is written.

    Raises:
        PromptError: one of them is neither a text nor a mapping, or its prompt is no text.
    """
    items = list(section) if isinstance(section, list | tuple) else [section]
    for item in items:
        if not isinstance(item, str | Mapping):
            raise PromptError(f"an item of begin, round or end must be a string or a mapping, not {item!r}")
        if isinstance(item, Mapping) and not isinstance(item.get("prompt", ""), str):
            raise PromptError(f"the prompt of a turn must be a text, not {item['prompt']!r}")
    return items


def check_dialogue(template: Any, owner: str) -> Mapping[str, Any]:
    """The template, if it is a dialogue and nothing else.

    Args:
        template: what the config says.
        owner: the class that wants it, for the message.

    Raises:
        PromptError: it is no mapping, has other keys or no round, or an item has the wrong shape.
    """
    if not isinstance(template, Mapping) or not set(template) <= set(SECTIONS):
        raise PromptError(f"the template of {owner} must be a mapping with only begin, round and end")
    check_round(template)
    for section in template.values():
        section_items(section)
    return template
