"""Cutting the turns of a section into rounds, in the order of the meta template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ais_prompt.chat.meta_template import MetaTemplate, Slot, unknown_role
from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import PromptList, Turn

Round: TypeAlias = dict[int, Slot]
"""Index in the meta round → the slot filled with a turn."""


def split_rounds(section: PromptList, meta: MetaTemplate) -> Iterator[str | Round]:
    """The texts and the rounds of a section, in order of writing.

    A new round starts when a turn's place in the meta round is not after the one before. A text is written before the
    round it stands in, because a round is only written when it is complete.

    Raises:
        PromptError: a turn's role has no place in a round, or an example section stands inside the round.
    """
    current: Round = {}
    last = -1
    for name, items in section.parts():
        if name is not None:
            raise PromptError(
                "in-context examples cannot stand inside the round of a dialogue",
                mend="move the ice_token into begin",
            )
        for item in items:
            if isinstance(item, str):
                yield item
                continue
            index = _index(item, meta)
            if index <= last:
                yield current
                current = {}
            slot = meta.round[index]
            assert isinstance(slot, Slot)
            current[index] = slot.with_turn(item)
            last = index
    if current:
        yield current


def _index(turn: Turn, meta: MetaTemplate) -> int:
    role, fallback = str(turn.get("role")), str(turn.get("fallback_role"))
    slots = meta.slots
    if role in slots:
        return slots[role]
    if role in meta.reserved:
        raise PromptError(
            f"the role {role!r} is reserved by the meta template for begin and end, but stands in a round",
            mend="move the turn into begin, or give the role a place in the meta template's round",
        )
    if fallback in slots:
        return slots[fallback]
    raise unknown_role(turn, list(slots))
