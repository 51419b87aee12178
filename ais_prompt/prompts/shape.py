"""The shape of templates: the sections of a dialogue, their items, and the tokens that mark a place in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ais_prompt.config.keys import near_miss
from ais_prompt.config.schema import TEMPLATE, TURN
from ais_prompt.errors import AisPromptError, PromptError, raise_all
from ais_prompt.prompts.prompt_list import Item, text_of

SECTIONS: Final = TEMPLATE.names
_TURN_FIX: Final = "dict(role='HUMAN', prompt='...')"
ROUND: Final = f"round=[{_TURN_FIX}]"


def check_round(template: Mapping[str, Any]) -> None:
    """Check that a dialogue template has a round.

    Raises:
        PromptError: it has none.
    """
    if "round" not in template:
        raise PromptError("a dialogue template needs the key 'round'", fix=ROUND)


def section_items(section: Any) -> list[Item]:
    """Return the items of a section, in any form that a config allows.

    Raises:
        PromptError: an item is neither a text nor a mapping, or its prompt is not a text.
    """
    items = list(section) if isinstance(section, list | tuple) else [section]
    for item in items:
        if fault := _item_fault(item):
            raise PromptError(fault, fix=_TURN_FIX)
    return items


def dialogue_faults(template: Mapping[str, Any], where: str = "template") -> Iterator[AisPromptError]:
    """Yield every fault in the shape of a dialogue's sections. `check_round` finds a missing ``round``.

    Args:
        template: a mapping with only the keys `SECTIONS`.
        where: its config path within the part.
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
    """Return a template after checking that it is a dialogue.

    Args:
        template: the value in the config.
        owner: the class that requires it, for the message.

    Raises:
        PromptError: it is not a mapping, has other keys or no round, or an item has the wrong shape.
        ConfigFaults: it has several faults.
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
        yield PromptError(fault, where=where, fix=_TURN_FIX)
    elif isinstance(item, Mapping):
        speaks = "prompt" in item or "prompt_mm" in item
        for key, fix in TURN.unknown(item):
            # An unknown key of a turn with a prompt is kept, as in the peers; `check` warns of it.
            if not speaks or near_miss(str(key), TURN.names):
                yield PromptError(f"a turn has no key {key!r}", where=f"{where}.{key}", fix=fix)
        if not isinstance(item.get("role"), str):
            what = f"a turn needs the text 'role', which says who speaks, not {item.get('role')!r:.80}"
            yield PromptError(what, where=where, fix=_TURN_FIX)


def _item_fault(item: Any) -> str:
    if not isinstance(item, str | Mapping):
        return f"an item of begin, round or end must be a string or a mapping, not {item!r}"
    if isinstance(item, Mapping) and not isinstance(item.get("prompt", ""), str):
        return f"the prompt of a turn must be a text, not {item['prompt']!r}"
    return ""


def check_token(name: str, token: Any) -> str | None:
    """Return an ``ice_token`` or ``sep_token`` after checking that it is a text or None.

    Raises:
        PromptError: it is empty, or not a text.
    """
    if token is not None and (not isinstance(token, str) or not token):
        raise PromptError(f"{name} must be a text that is not empty, not {token!r}", fix=f"e.g. {name}='</E>'")
    return token


def has_token(entry: Any, token: str) -> bool:
    """Return whether a string, section or dialogue contains a token, in its texts or the prompts of its turns."""
    if isinstance(entry, str):
        return token in entry
    sections = entry.values() if isinstance(entry, Mapping) else [entry]
    return any(token in text_of(item) for section in sections for item in section_items(section))


def missing_token(name: object, token: str | None) -> PromptError:
    """Return the error for a template, or an entry of a label table, that does not contain its ``ice_token``."""
    return PromptError(
        f"ice_token {token!r} is not in {name!r}: the examples would be lost",
        fix=f"put {token!r} where the examples go, or use ZeroRetriever",
    )
