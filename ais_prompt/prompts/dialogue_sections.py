"""Format the sections of dialogues, and cache the sections that prompts share.

A chat is the section ``chat``, whose turns are formatted one by one. Its messages are kept as they are: unlike the
rounds of a dialogue they are not cut, merged or completed, and ``begin`` and ``end`` of the meta template are not
added. A role that the meta template lacks gets no text around it. The rules are those of OpenCompass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final, Generic, TypeAlias, TypeVar

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Mode
from ais_prompt.prompts.compiled import CompiledSection, FilledSection
from ais_prompt.prompts.message_media import refuse_media
from ais_prompt.prompts.meta_template import MetaTemplate, unknown_role
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn, text_of

Round: TypeAlias = dict[int, Turn]
"""Index of a slot in the meta template's round → the turn in that slot."""
Written = TypeVar("Written")
Fill: TypeAlias = Callable[[Mapping[str, object]], Written]
"""From the values of a row to its formatted section."""
CHAT = "chat"
OUTSIDE: Final = ("begin", "end")
"""The sections of single texts and turns. Everything else is formatted in rounds, also items outside of sections."""
EXAMPLES_KEPT: Final = 2048
"""Maximum number of formatted in-context examples in the cache."""
SECTIONS_KEPT: Final = 256
"""Maximum number of formatted begin and end sections in the cache; a label table has one for each label."""


class Sections(Generic[Written]):
    """Formats the sections of prompts, and caches them.

    A section of a template is formatted once, with sentinels in place of the values (`ais_prompt.prompts.compiled`).
    For each row only the values are filled in.

    Args:
        meta: the meta template; None for a format without sections.
        rounds: formats a body as rounds of the meta template. Its second argument says whether to cut the last round;
            its second result, whether the prompt ends there.
        outside: formats the body of a begin or end section.
        compile_written: compiles a section that was formatted with sentinels; None if the values can change more than
            the text.
    """

    def __init__(
        self,
        meta: MetaTemplate | None,
        rounds: Callable[[PromptList, bool, MetaTemplate], tuple[Written, bool]],
        outside: Callable[[PromptList, MetaTemplate], Written],
        compile_written: Callable[[Written, Collection[str]], Fill[Written] | None],
    ) -> None:
        self._meta = meta
        self._rounds = rounds
        self._write_outside = outside
        self._compile_written = compile_written
        self.inner = lru_cache(EXAMPLES_KEPT)(self._uncut)
        self._outside = lru_cache(SECTIONS_KEPT)(self._uncut)
        self._compiled = lru_cache(SECTIONS_KEPT)(self._write_compiled)

    def write(self, prompt: PromptList, mode: Mode) -> tuple[list[Written], bool]:
        """Format each part of a dialogue; True if the prompt ends where the model starts to write."""
        parts = prompt.parts()
        cut = last_round(parts) if mode == "gen" else None
        written: list[Written] = []
        for part in parts:
            formatted, ends = (self._outside(part), False) if part.name in OUTSIDE else self._section(part, part is cut)
            written.append(formatted)
            if ends:
                return written, True
        return written, False

    def _uncut(self, section: PromptSection) -> Written:
        return self._section(section, False)[0]

    def _section(self, section: PromptSection, cut: bool) -> tuple[Written, bool]:
        if isinstance(section, FilledSection):
            if self._meta and self._meta.has_columns:  # the default prompts differ from row to row
                return self._body(section.name, section.body, cut, self._meta.filled(section.values))
            fill, ends = self._compiled(section.compiled, cut)
            if fill is not None:
                return fill(section.values), ends
        return self._body(section.name, section.body, cut, self._meta)

    def _write_compiled(self, compiled: CompiledSection, cut: bool) -> tuple[Fill[Written] | None, bool]:
        written, ends = self._body(compiled.name, compiled.with_sentinels, cut, self._meta)
        return self._compile_written(written, compiled.keys), ends

    def _body(self, name: str | None, body: PromptList, cut: bool, meta: MetaTemplate | None) -> tuple[Written, bool]:
        assert meta is not None
        return (self._write_outside(body, meta), False) if name in OUTSIDE else self._rounds(body, cut, meta)


def last_round(parts: Sequence[PromptSection]) -> PromptSection | None:
    """Return the part in whose last round a generation prompt is cut; None if no part has rounds."""
    return next((part for part in reversed(parts) if part.name not in OUTSIDE), None)


def split_rounds(section: PromptList, meta: MetaTemplate) -> list[str | Round]:
    """Split a section into texts and rounds, in order. If there are rounds, the last piece is one.

    A new round starts when a turn's slot in the meta template's round is not after the slot of the previous turn. A
    text inside a round comes before it, because a round is formatted as a whole.

    Raises:
        PromptError: a turn's role has no slot in a round, or the section contains in-context examples.
    """
    pieces: list[str | Round] = []
    current: Round = {}
    last = -1
    if any(isinstance(piece, PromptSection) and piece.name == "ice" for piece in section.pieces):
        raise PromptError(
            "in-context examples cannot be inside the round of a dialogue", fix="move the ice_token into begin"
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
            f"the meta template reserves the role {role!r} for begin and end, but the template has it in a round",
            fix="move the turn into begin, or give the role a place in the meta template's round",
        )
    if (fallback := str(turn.get("fallback_role"))) in slots:
        return slots[fallback]
    raise unknown_role(turn, list(slots))


def chat_turns(prompt: PromptList) -> list[Turn]:
    """Return the turns of a prompt that is a chat; empty for other prompts."""
    turns: list[Turn] = []
    for piece in prompt.pieces:
        if isinstance(piece, PromptSection) and piece.name == CHAT:
            turns += [item for item in piece.body if not isinstance(item, str)]
    return turns


def format_chat(turns: list[Turn], meta: MetaTemplate | None, mode: Mode) -> str:
    """Format a chat for a language model; in ``gen`` mode it ends with the ``begin`` of the model's turn.

    Without a meta template the contents are joined by newlines, without roles.

    Raises:
        PromptError: the meta template has no role BOT, or the chat contains media.
    """
    refuse_media(turns)
    if meta is None:
        return "\n".join(map(text_of, turns))
    written = []
    for turn in turns:
        slot = meta.slot(str(turn["role"]))
        written.append(f"{slot.begin}{text_of(turn)}{slot.end}" if slot else text_of(turn))
    if mode == "gen":
        assistant = meta.slot("BOT")
        if assistant is None:
            raise PromptError(
                "the meta template has no role 'BOT', which is the model's role in a chat",
                fix="add dict(role='BOT', begin='...', generate=True) to its round",
            )
        written.append(assistant.begin)
    return "".join(written)
