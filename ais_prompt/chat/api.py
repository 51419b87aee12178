"""The format of API models: everything becomes messages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from ais_prompt.chat.chat_section import chat_turns
from ais_prompt.chat.formats import Mode
from ais_prompt.chat.language_model import join_texts
from ais_prompt.chat.media import MEDIA, bare_parts, has_media, join_contents
from ais_prompt.chat.meta_template import SILENT, MetaTemplate, Slot
from ais_prompt.chat.raw_messages import is_raw, raw_messages
from ais_prompt.chat.sections import Fill, Round, Sections, split_rounds
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.fill import unsealed
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn, text_of
from ais_prompt.types import ChatMessage, Content

OPENAI_ROLES: Final[Mapping[str, str]] = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}


class ApiTurn(NamedTuple):
    """A message before its role is named in OpenAI's way: ``role`` is the ``api_role`` of the meta template."""

    role: str
    prompt: Content


class MessageBuilder:
    """What is said in a prompt or a part of one; neighbours of the same role are one message.

    Only who makes it adds to it: parts that prompts have in common stay as they are.

    Attributes:
        roles: by whom: the ``api_role`` of each message.
        messages: the messages as they are sent.
    """

    __slots__ = ("messages", "roles")

    def __init__(self, roles: list[str], messages: list[ChatMessage]) -> None:
        self.roles = roles
        self.messages = messages

    def say(self, role: str, content: Content) -> None:
        """Add a message; a newline stands between texts that are merged."""
        if self.roles and self.roles[-1] == role:
            self.messages[-1] = openai_message(role, join_contents(self.messages[-1].content, content))
        else:
            self.roles.append(role)
            self.messages.append(openai_message(role, content))

    def add(self, more: MessageBuilder) -> None:
        """Add what was said before, which is only merged where the two meet."""
        if self.roles and more.roles and self.roles[-1] == more.roles[0]:
            self.say(more.roles[0], more.messages[0].content)
            self.roles += more.roles[1:]
            self.messages += more.messages[1:]
        else:
            self.roles += more.roles
            self.messages += more.messages

    def turns(self) -> list[ApiTurn]:
        """The same by the roles of the meta template."""
        return [ApiTurn(role, message.content) for role, message in zip(self.roles, self.messages, strict=True)]


def openai_message(role: str, content: Content) -> ChatMessage:
    """A message in OpenAI form; a role that OpenAI has no name for keeps its own."""
    return ChatMessage(OPENAI_ROLES.get(role, role), content)


def compile_messages(said: MessageBuilder, keys: Collection[str]) -> Fill[MessageBuilder] | None:
    """What is said with sealed keys in its texts, to be filled; next to media an empty text would be left out."""
    texts = [unsealed(one.content, keys) for one in said.messages if isinstance(one.content, str)]
    if len(texts) < len(said.messages):
        return None
    blanks = list(zip(said.messages, texts, strict=True))

    def fill(values: Mapping[str, object]) -> MessageBuilder:
        messages = [ChatMessage(one.role, text.fill(values)) if text.keys else one for one, text in blanks]
        return MessageBuilder(said.roles, messages)

    return fill


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
