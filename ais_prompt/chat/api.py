"""The format of API models: everything becomes messages."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ais_prompt.chat.chat_section import chat_turns
from ais_prompt.chat.formats import Mode
from ais_prompt.chat.language_model import join_texts
from ais_prompt.chat.media import MEDIA, bare_parts, has_media, join_contents
from ais_prompt.chat.meta_template import MetaTemplate, Slot
from ais_prompt.chat.raw_messages import is_raw, raw_messages
from ais_prompt.chat.rounds import Round, split_rounds
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.prompt_list import PromptList, Turn, text_of
from ais_prompt.prompts.warn_once import WarnOnce
from ais_prompt.types import Content, Message

log = logging.getLogger(__name__)

OPENAI_ROLES: Mapping[str, str] = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}

DEFAULT_META_TEMPLATE: Mapping[str, Any] = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN"},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}
"""What a chat model is assumed to know when its config says nothing."""


BEGIN = "begin=[dict(role='SYSTEM', prompt='...')]"


@dataclass(frozen=True, slots=True)
class ApiTurn:
    """A message before its role is named in OpenAI's way: ``role`` is the ``api_role`` of the meta template."""

    role: str
    prompt: Content


class ApiFormat:
    """Turns dialogues into messages.

    Args:
        meta: the meta template; None joins the texts by newline into one user message.

    Raises:
        ConfigError: ``begin`` of the meta template has the wrong shape.
    """

    def __init__(self, meta: MetaTemplate | None) -> None:
        self.meta = meta
        self.opening = _opening(meta) if meta else []
        self._warn = WarnOnce(log)

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[Message, ...]:
        """The messages in OpenAI form; a string becomes one user message, and messages stay as they are.

        Raises:
            PromptError: a role cannot be placed, or a generation request would have nothing to say.
        """
        if not isinstance(prompt, str) and is_raw(prompt):
            return raw_messages(prompt)
        said = self.turns(prompt, mode)
        if isinstance(said, tuple):
            raise PromptError("without a meta template nobody says the media", mend="give the model a meta_template")
        turns = [ApiTurn("HUMAN", said)] if isinstance(said, str) else said
        return tuple(map(_message, turns))

    def turns(self, prompt: str | PromptList, mode: Mode) -> Content | list[ApiTurn | str]:
        """What the meta template makes of the prompt; in ``gen`` mode it ends before the last generating slot.

        A text in the list is one that the meta template has as its ``begin``; it cannot be made a message.
        """
        if isinstance(prompt, str):
            return prompt
        if chat := chat_turns(prompt):
            return [_chat_turn(turn, self.meta) for turn in chat]
        if self.meta is None:
            return _unframed(prompt)
        said = self._dialogue(prompt, self.meta, mode)
        if not said:
            raise PromptError("the prompt says nothing", mend="look at it with `aisprompt view-prompt`")
        return [*self.opening, *_merged(said)]

    def _dialogue(self, prompt: PromptList, meta: MetaTemplate, mode: Mode) -> list[ApiTurn]:
        said: list[ApiTurn] = []
        parts = list(prompt.parts())
        last_round = max((index for index, (name, _) in enumerate(parts) if name in ("round", None)), default=-1)
        for index, (name, section) in enumerate(parts):
            if name not in ("round", None):
                said += self._outside(section, meta)
            else:
                turns, ended = _rounds(section, meta, cut=mode == "gen" and index == last_round)
                said += turns
                if ended:
                    break
        return said

    def _outside(self, section: PromptList, meta: MetaTemplate) -> list[ApiTurn]:
        """A begin or end section: single roles, and examples as rounds."""
        said: list[ApiTurn] = []
        for name, items in section.parts():
            if name == "ice":
                said += _rounds(items, meta, cut=False)[0]
                continue
            for item in items:
                if not isinstance(item, str):
                    said.append(_turn(meta.resolve(item)))
                elif item.strip():
                    self._warn("an API model gets no text outside of turns; such texts are lost, as %r", item[:80])
        return said


def _chat_turn(turn: Turn, meta: MetaTemplate | None) -> ApiTurn:
    """A message of a chat: only its role goes through the meta template."""
    role = str(turn["role"])
    slot = meta.slot(role) if meta else None
    content = tuple(turn[MEDIA]) if MEDIA in turn else text_of(turn)
    return ApiTurn(slot.api_role if slot and slot.api_role else role, content)


def _unframed(prompt: PromptList) -> Content | list[ApiTurn | str]:
    """Without any meta template: texts joined by newline; media alone bare, as in AISBench; both in one turn."""
    media = [has_media(item) for item in prompt]
    if not any(media):
        return join_texts(prompt)
    return bare_parts(prompt) if all(media) else [ApiTurn("HUMAN", bare_parts(prompt))]


def _opening(meta: MetaTemplate) -> list[ApiTurn | str]:
    """The meta template's own ``begin``: one turn or several, put in front as they are.

    Raises:
        ConfigError: it is neither of these, nor a text.
    """
    begin = meta.begin if isinstance(meta.begin, list | tuple) else [meta.begin] if meta.begin else []
    for turn in begin:
        if not isinstance(turn, str) and not (isinstance(turn, Mapping) and isinstance(turn.get("role"), str)):
            what = f"'begin' of an API model's meta_template must be a turn with a role, not {turn!r}"
            raise ConfigError(what, mend=BEGIN)
    return [
        turn if isinstance(turn, str) else ApiTurn(turn.get("api_role", turn["role"]), turn.get("prompt", ""))
        for turn in begin
    ]


def _message(turn: ApiTurn | str) -> Message:
    if isinstance(turn, str):
        raise ConfigError(
            f"'begin' of an API model's meta_template must be a turn, not the text {turn!r}",
            mend=BEGIN,
        )
    return Message(OPENAI_ROLES.get(turn.role, turn.role), turn.prompt)


def _rounds(section: PromptList, meta: MetaTemplate, *, cut: bool) -> tuple[list[ApiTurn], bool]:
    """The turns of a section, and whether the prompt ends with it."""
    rounds = [piece for piece in split_rounds(section, meta) if not isinstance(piece, str)]
    said: list[ApiTurn] = []
    for number, piece in enumerate(rounds):
        turns, ended = _round(piece, meta, cut=cut and number == len(rounds) - 1)
        said += turns
        if ended:
            return said, True
    return said, False


def _round(said: Round, meta: MetaTemplate, *, cut: bool) -> tuple[list[ApiTurn], bool]:
    turns: list[ApiTurn] = []
    for index, item in enumerate(meta.round):
        slot = said.get(index, item)
        if isinstance(slot, str):
            raise ConfigError(f"the meta template of an API model has a text in its round: {slot!r}")
        if cut and slot.generate:
            return turns, True
        # A slot without data and without a default says nothing: it makes no message.
        if index in said or slot.prompt is not None:
            turns.append(_turn(slot))
    return turns, False


def _turn(slot: Slot) -> ApiTurn:
    if slot.api_role is None:
        raise PromptError(
            f"the role {slot.role!r} of the meta template has no api_role",
            mend=f"dict(role={slot.role!r}, api_role='HUMAN')",
        )
    return ApiTurn(slot.api_role, slot.content)


def _merged(turns: Iterable[ApiTurn]) -> list[ApiTurn]:
    """Neighbours with the same role become one turn, texts with a newline between them."""
    merged: list[ApiTurn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role:
            merged[-1] = ApiTurn(turn.role, join_contents(merged[-1].prompt, turn.prompt))
        else:
            merged.append(turn)
    return merged
