"""The shape of a dialogue: ``begin``, ``round`` and ``end``, each a text, a turn, or a list of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ais_prompt.config.keys import near_miss
from ais_prompt.config.schema import TEMPLATE, TURN
from ais_prompt.errors import AisPromptError, PromptError, raise_all
from ais_prompt.prompts.prompt_list import Item, text_of

SECTIONS: Final = TEMPLATE.names
ROUND: Final = "round=[dict(role='HUMAN', prompt='...')]"


def check_round(template: Mapping[str, Any]) -> None:
    """See that a dialogue has a round.

    Raises:
        PromptError: it has none.
    """
    if "round" not in template:
        raise PromptError("a dialogue template needs the key 'round'", fix=ROUND)


def section_items(section: Any) -> list[Item]:
    """The items of a section, whichever way it is written.

    Raises:
        PromptError: one of them is neither a text nor a mapping, or its prompt is no text.
    """
    items = list(section) if isinstance(section, list | tuple) else [section]
    for item in items:
        if fault := _item_fault(item):
            raise PromptError(fault)
    return items


def dialogue_faults(template: Mapping[str, Any], where: str = "template") -> Iterator[AisPromptError]:
    """Everything that is wrong with the shape of a dialogue's sections; a missing ``round`` is found by `check_round`.

    Args:
        template: a mapping with no keys but `SECTIONS`.
        where: its place in the part that has it.
    """
    for name, section in template.items():
        place = f"{where}.{name}"
        if name == "round" and (not isinstance(section, list | tuple) or not section):
            found = "is empty" if isinstance(section, list | tuple) else f"is {section!r:.80}"
            yield PromptError(f"'round' must be a list of turns, but it {found}", where=place, fix=ROUND)
            continue
        is_list = isinstance(section, list | tuple)
        for number, item in enumerate(section if is_list else [section]):
            yield from _turn_faults(item, f"{place}[{number}]" if is_list else place)


def check_dialogue(template: Any, owner: str) -> Mapping[str, Any]:
    """The template, if it is a dialogue and nothing else.

    Args:
        template: what the config says.
        owner: the class that wants it, for the message.

    Raises:
        PromptError: it is no mapping, has other keys or no round, or an item has the wrong shape.
        ConfigFaults: several things are wrong.
    """
    only = f"the template of {owner} must be a mapping with only begin, round and end"
    if not isinstance(template, Mapping):
        raise PromptError(f"{only}, not {template!r:.80}", where="template", fix=f"dict({ROUND})")
    unknown = list(TEMPLATE.unknown(template))
    raise_all(PromptError(f"{only}, not {key!r}", where=f"template.{key}", fix=fix) for key, fix in unknown)
    check_round(template)
    raise_all(dialogue_faults(template))
    return template


def _turn_faults(item: Any, where: str) -> Iterator[AisPromptError]:
    if fault := _item_fault(item):
        yield PromptError(fault, where=where)
    elif isinstance(item, Mapping):
        speaks = "prompt" in item or "prompt_mm" in item
        for key, fix in TURN.unknown(item):
            # Another key of a turn that speaks is kept, as in the peers; `check` warns of it.
            if not speaks or near_miss(str(key), TURN.names):
                yield PromptError(f"a turn has no key {key!r}", where=f"{where}.{key}", fix=fix)
        if not isinstance(item.get("role"), str):
            what = f"a turn needs the text 'role', which says who speaks, not {item.get('role')!r:.80}"
            yield PromptError(what, where=where, fix="dict(role='HUMAN', prompt='...')")


def _item_fault(item: Any) -> str:
    if not isinstance(item, str | Mapping):
        return f"an item of begin, round or end must be a string or a mapping, not {item!r}"
    if isinstance(item, Mapping) and not isinstance(item.get("prompt", ""), str):
        return f"the prompt of a turn must be a text, not {item['prompt']!r}"
    return ""


def check_token(name: str, token: Any) -> str | None:
    """Return the token, if it is a text or None.

    Raises:
        PromptError: it is empty, or no text.
    """
    if token is not None and (not isinstance(token, str) or not token):
        raise PromptError(f"{name} must be a text that is not empty, not {token!r}", fix=f"e.g. {name}='</E>'")
    return token


def has_token(entry: Any, token: str) -> bool:
    """Return whether a token is in a string, a section or a dialogue: in its texts and the prompts of its turns."""
    if isinstance(entry, str):
        return token in entry
    sections = entry.values() if isinstance(entry, Mapping) else [entry]
    return any(token in text_of(item) for section in sections for item in section_items(section))


def missing_token(name: object, token: str | None) -> PromptError:
    """The error for a template, or an entry of a label table, that has an ``ice_token`` but no place for it."""
    return PromptError(
        f"ice_token {token!r} is not in {name!r}: the examples would be lost",
        fix=f"put {token!r} where the examples go, or use ZeroRetriever",
    )
