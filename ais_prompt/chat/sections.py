"""The sections of dialogues on their way into a format: what prompts have in common is written once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final, Generic, TypeAlias, TypeVar

from ais_prompt.chat.formats import Mode
from ais_prompt.chat.meta_template import MetaTemplate, unknown_role
from ais_prompt.errors import PromptError
from ais_prompt.prompts.compiled import FilledSection, Outline
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


Written = TypeVar("Written")

Fill: TypeAlias = Callable[[Mapping[str, object]], Written]
"""From the values of a row to what is written for its section."""

OUTSIDE: Final = ("begin", "end")
"""The sections of single texts and turns. All else is written in rounds: items outside of all sections are, too."""

EXAMPLES_KEPT: Final = 2048
"""How many in-context examples are remembered once they are written."""

SECTIONS_KEPT: Final = 256
"""How many begin and end sections are remembered, with their examples; a label table has one for each label."""


class Sections(Generic[Written]):
    """Has the sections of prompts written by a format, and remembers them.

    The section of a template that rows fill is written once, with sealed keys in place of the values
    (`ais_prompt.prompts.compiled`). For each row only the values are put in.

    Args:
        meta: the meta template; None for a format that writes no sections.
        rounds: writes a body as rounds of the meta template. If it is told to cut the last round, it says whether the
            prompt ends there.
        outside: writes the body of a begin or end section.
        blank: makes what was written with sealed keys fit to be filled; None if the values decide more than the text.
    """

    def __init__(
        self,
        meta: MetaTemplate | None,
        rounds: Callable[[PromptList, bool, MetaTemplate], tuple[Written, bool]],
        outside: Callable[[PromptList, MetaTemplate], Written],
        blank: Callable[[Written, Collection[str]], Fill[Written] | None],
    ) -> None:
        self._meta = meta
        self._rounds = rounds
        self._write_outside = outside
        self._blank = blank
        self.inner = lru_cache(EXAMPLES_KEPT)(self._uncut)
        self._outside = lru_cache(SECTIONS_KEPT)(self._uncut)
        self._outline = lru_cache(SECTIONS_KEPT)(self._write_outline)

    def write(self, prompt: PromptList, mode: Mode) -> tuple[list[Written], bool]:
        """What is written for each part of a dialogue; True if it ends where the model starts to write."""
        parts = prompt.parts()
        cut = last_round(parts) if mode == "gen" else None
        written: list[Written] = []
        for part in parts:
            if part.name in OUTSIDE:
                written.append(self._outside(part))
                continue
            said, ends = self._section(part, part is cut)
            written.append(said)
            if ends:
                return written, True
        return written, False

    def _uncut(self, section: PromptSection) -> Written:
        return self._section(section, False)[0]

    def _section(self, section: PromptSection, cut: bool) -> tuple[Written, bool]:
        if isinstance(section, FilledSection):
            if self._meta and self._meta.has_columns:  # each row has default prompts of its own
                return self._body(section.name, section.body, cut, self._meta.filled(section.values))
            fill, ends = self._outline(section.outline, cut)
            if fill is not None:
                return fill(section.values), ends
        return self._body(section.name, section.body, cut, self._meta)

    def _write_outline(self, outline: Outline, cut: bool) -> tuple[Fill[Written] | None, bool]:
        written, ends = self._body(outline.name, outline.sealed, cut, self._meta)
        return self._blank(written, outline.keys), ends

    def _body(self, name: str | None, body: PromptList, cut: bool, meta: MetaTemplate | None) -> tuple[Written, bool]:
        assert meta is not None
        return (self._write_outside(body, meta), False) if name in OUTSIDE else self._rounds(body, cut, meta)


def last_round(parts: Sequence[PromptSection]) -> PromptSection | None:
    """The part in whose last round a generation prompt is cut; None if no part is written in rounds."""
    for part in reversed(parts):
        if part.name not in OUTSIDE:
            return part
    return None
