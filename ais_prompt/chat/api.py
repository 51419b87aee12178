"""The format of API models: everything becomes messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ais_prompt.chat.chat_section import chat_turns
from ais_prompt.chat.formats import Mode
from ais_prompt.chat.language_model import join_texts
from ais_prompt.chat.media import MEDIA, bare_parts, has_media
from ais_prompt.chat.message_builder import ApiTurn, MessageBuilder, compile_messages, openai_message
from ais_prompt.chat.meta_template import SILENT, MetaTemplate, Slot
from ais_prompt.chat.raw_messages import is_raw, raw_messages
from ais_prompt.chat.rounds import Round, split_rounds
from ais_prompt.chat.sections import Sections
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn, text_of
from ais_prompt.types import ChatMessage, Content

DEFAULT_META_TEMPLATE: Mapping[str, Any] = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN"},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}
"""What a chat model is assumed to know when its config says nothing."""


BEGIN = "begin=[dict(role='SYSTEM', prompt='...')]"


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
        self._sections = Sections(meta, self._rounds, self._outside, compile_messages)

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """The messages in OpenAI form; a string becomes one user message, and messages stay as they are.

        Raises:
            PromptError: a role cannot be placed, or a generation request would have nothing to say.
        """
        if isinstance(prompt, str):
            return (openai_message("HUMAN", prompt),)
        if is_raw(prompt):
            return raw_messages(prompt)
        if self.meta is not None and not chat_turns(prompt):
            return (*map(_sent, self.opening), *self._dialogue(prompt, mode).messages)
        said = self.turns(prompt, mode)
        if isinstance(said, tuple):
            raise PromptError("without a meta template no role says the media", fix="give the model a meta_template")
        return tuple(map(_sent, [ApiTurn("HUMAN", said)] if isinstance(said, str) else said))

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
        return [*self.opening, *self._dialogue(prompt, mode).turns()]

    def _dialogue(self, prompt: PromptList, mode: Mode) -> MessageBuilder:
        said = MessageBuilder([], [])
        for part in self._sections.write(prompt, mode)[0]:
            said.add(part)
        if not said.roles:
            raise PromptError("the prompt says nothing", fix="look at it with `aisprompt view-prompt`")
        return said

    def _outside(self, body: PromptList, meta: MetaTemplate) -> MessageBuilder:
        """A begin or end section: single roles, and examples as rounds."""
        said = MessageBuilder([], [])
        for piece in body.pieces:
            if isinstance(piece, PromptSection):
                said.add(self._sections.inner(piece))
            elif not isinstance(piece, str):  # a text has no role: it is lost, as in the peers, and `check` says so
                _say(said, piece, meta.resolve(piece))
        return said

    def _rounds(self, body: PromptList, cut: bool, meta: MetaTemplate) -> tuple[MessageBuilder, bool]:
        """The rounds of a section, texts left out; True if the prompt ends here."""
        said = MessageBuilder([], [])
        pieces = split_rounds(body, meta)
        for piece in pieces:
            if not isinstance(piece, str) and _say_round(piece, meta, said, cut=cut and piece is pieces[-1]):
                return said, True
        return said, False


def _say_round(spoken: Round, meta: MetaTemplate, said: MessageBuilder, *, cut: bool) -> bool:
    """Add the messages of one round; True if the prompt ends here."""
    for index, slot in enumerate(meta.round):
        if isinstance(slot, str):
            raise ConfigError(f"the meta template of an API model has a text in its round: {slot!r}")
        turn = spoken.get(index, SILENT)
        if cut and slot.generates(turn):
            return True
        # A slot without data and without a default says nothing: it makes no message.
        if index in spoken or slot.prompt is not None:
            _say(said, turn, slot)
    return False


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
            raise ConfigError(what, fix=BEGIN)
    return [
        turn if isinstance(turn, str) else ApiTurn(turn.get("api_role", turn["role"]), turn.get("prompt", ""))
        for turn in begin
    ]


def _sent(turn: ApiTurn | str) -> ChatMessage:
    if isinstance(turn, str):
        raise ConfigError(f"'begin' of an API model's meta_template must be a turn, not the text {turn!r}", fix=BEGIN)
    return openai_message(turn.role, turn.prompt)


def _say(said: MessageBuilder, turn: Turn, slot: Slot) -> None:
    role = turn.get("api_role", slot.api_role)
    if role is None:
        raise PromptError(
            f"the role {slot.role!r} of the meta template has no api_role",
            fix=f"dict(role={slot.role!r}, api_role='HUMAN')",
        )
    said.say(role, slot.content(turn))
