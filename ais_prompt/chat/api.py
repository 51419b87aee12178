"""The format of API models: everything becomes messages."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ais_prompt.chat.formats import Mode
from ais_prompt.chat.language_model import join_texts
from ais_prompt.chat.meta_template import MetaTemplate, Slot
from ais_prompt.chat.rounds import Round, split_rounds
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.types import Message

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


@dataclass(frozen=True, slots=True)
class ApiTurn:
    """A message before its role is named in OpenAI's way: ``role`` is the ``api_role`` of the meta template."""

    role: str
    prompt: str


class ApiFormat:
    """Turns dialogues into messages.

    Args:
        meta: the meta template; None joins the texts by newline into one user message.
    """

    def __init__(self, meta: MetaTemplate | None) -> None:
        self.meta = meta

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[Message, ...]:
        """The messages in OpenAI form; a string becomes one user message.

        Raises:
            PromptError: a role cannot be placed, or a generation request would have nothing to say.
        """
        said = self.turns(prompt, mode)
        turns = [ApiTurn("HUMAN", said)] if isinstance(said, str) else said
        return tuple(Message(OPENAI_ROLES.get(turn.role, turn.role), turn.prompt) for turn in turns)

    def turns(self, prompt: str | PromptList, mode: Mode) -> str | list[ApiTurn]:
        """What the meta template makes of the prompt; in ``gen`` mode it ends before the last generating slot."""
        if isinstance(prompt, str):
            return prompt
        if self.meta is None:
            return join_texts(prompt)
        said = self._dialogue(prompt, self.meta, mode)
        if not said:
            raise PromptError("the prompt says nothing", mend="look at it with `aisprompt view-prompt`")
        return [*_opening(self.meta), *_merged(said)]

    def _dialogue(self, prompt: PromptList, meta: MetaTemplate, mode: Mode) -> list[ApiTurn]:
        said: list[ApiTurn] = []
        parts = list(prompt.parts())
        last_round = max((index for index, (name, _) in enumerate(parts) if name in ("round", None)), default=-1)
        for index, (name, section) in enumerate(parts):
            if name not in ("round", None):
                said += _outside(section, meta)
            else:
                turns, ended = _rounds(section, meta, cut=mode == "gen" and index == last_round)
                said += turns
                if ended:
                    break
        return said


def _opening(meta: MetaTemplate) -> list[ApiTurn]:
    """The meta template's own ``begin``: one turn or several, put in front as they are."""
    begin = [meta.begin] if isinstance(meta.begin, Mapping) else meta.begin or []
    if isinstance(begin, str) or not all(isinstance(turn, Mapping) and "role" in turn for turn in begin):
        raise ConfigError(
            "'begin' of an API model's meta_template must be a turn, not a text",
            mend="begin=[dict(role='SYSTEM', prompt='...')]",
        )
    return [ApiTurn(turn.get("api_role", turn["role"]), turn.get("prompt", "")) for turn in begin]


def _outside(section: PromptList, meta: MetaTemplate) -> list[ApiTurn]:
    said: list[ApiTurn] = []
    for name, items in section.parts():
        if name == "ice":
            said += _rounds(items, meta, cut=False)[0]
            continue
        for item in items:
            if not isinstance(item, str):
                said.append(_turn(meta.resolve(item)))
            elif item.strip():
                log.warning("an API model gets no text outside of turns; this one is lost: %r", item[:80])
    return said


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
    return ApiTurn(slot.api_role, slot.text)


def _merged(turns: Iterable[ApiTurn]) -> list[ApiTurn]:
    """Neighbours with the same role become one turn, a newline between them."""
    merged: list[ApiTurn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role:
            merged[-1] = ApiTurn(turn.role, f"{merged[-1].prompt}\n{turn.prompt}")
        else:
            merged.append(turn)
    return merged
