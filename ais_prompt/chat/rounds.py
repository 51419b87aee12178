"""Cutting the turns of a section into rounds, in the order of the meta template."""

from __future__ import annotations

from typing import TypeAlias

from ais_prompt.chat.meta_template import MetaTemplate, unknown_role
from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn

Round: TypeAlias = dict[int, Turn]
"""Index of a slot in the meta round → the turn that has its place there."""


def split_rounds(section: PromptList, meta: MetaTemplate) -> list[str | Round]:
    """The texts and the rounds of a section, in order of writing; if there is any round, the last one is a round.

    A new round starts when a turn's place in the meta round is not after the one before. A text is written before the
    round it stands in, because a round is only written when it is complete.

    Raises:
        PromptError: a turn's role has no place in a round, or an example section stands inside the round.
    """
    pieces: list[str | Round] = []
    current: Round = {}
    last = -1
    if any(isinstance(piece, PromptSection) and piece.name == "ice" for piece in section.pieces):
        raise PromptError(
            "in-context examples cannot stand inside the round of a dialogue", fix="move the ice_token into begin"
        )
    for item in section:
        if isinstance(item, str):
            pieces.append(item)
            continue
        index = _index(item, meta)
        if index <= last:
            pieces.append(current)
            current = {}
        current[index] = item
        last = index
    return [*pieces, current] if current else pieces


def _index(turn: Turn, meta: MetaTemplate) -> int:
    role, slots = str(turn.get("role")), meta.slots
    if role in slots:
        return slots[role]
    if role in meta.reserved:
        raise PromptError(
            f"the role {role!r} is reserved by the meta template for begin and end, but stands in a round",
            fix="move the turn into begin, or give the role a place in the meta template's round",
        )
    if (fallback := str(turn.get("fallback_role"))) in slots:
        return slots[fallback]
    raise unknown_role(turn, list(slots))
