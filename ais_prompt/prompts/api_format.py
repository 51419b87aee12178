"""The chat format of API models: everything becomes messages.

Messages that are in OpenAI form already stay as they are: a meta template applies to them only if it is a list of
messages itself. The rules are those of OpenCompass.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.base import Mode
from ais_prompt.prompts.message_media import MEDIA, bare_parts, join_contents
from ais_prompt.prompts.meta_template import (
    EMPTY_TURN,
    Fill,
    MetaTemplate,
    Round,
    Sections,
    Slot,
    chat_turns,
    split_rounds,
)
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn, split_at_sentinels, text_of
from ais_prompt.prompts.text_format import join_texts
from ais_prompt.types import ChatMessage, Content, message_from_json

OPENAI_ROLES: Final[Mapping[str, str]] = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
BEGIN = "begin=[dict(role='SYSTEM', prompt='...')]"
DEFAULT_META_TEMPLATE: Mapping[str, Any] = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN"},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}
"""The meta template of a chat model whose config has none."""


class ApiTurn(NamedTuple):
    """A message whose ``role`` is the ``api_role`` of the meta template, not yet OpenAI's name."""

    role: str
    prompt: Content


class MessageBuilder(Struct, eq=False):
    """Collects the messages of a prompt, or of a part of one. Neighbours of the same role become one message.

    A builder is only changed by the function that creates it, because finished parts are shared between prompts.

    Attributes:
        roles: the ``api_role`` of each message.
        messages: the messages as they are sent.
    """

    roles: list[str] = []
    messages: list[ChatMessage] = []

    def append(self, role: str, content: Content) -> None:
        """Add a message; merged texts are joined by a newline."""
        if self.roles and self.roles[-1] == role:
            self.messages[-1] = openai_message(role, join_contents(self.messages[-1].content, content))
        else:
            self.roles.append(role)
            self.messages.append(openai_message(role, content))

    def extend(self, more: MessageBuilder) -> None:
        """Add the messages of another builder; only its first message can merge with the last one here."""
        merged = int(self.roles[-1:] == more.roles[:1] != [])
        if merged:
            self.append(more.roles[0], more.messages[0].content)
        self.roles += more.roles[merged:]
        self.messages += more.messages[merged:]

    def turns(self) -> list[ApiTurn]:
        """Return the messages with the roles of the meta template."""
        return [ApiTurn(role, message.content) for role, message in zip(self.roles, self.messages, strict=True)]


def openai_message(role: str, content: Content) -> ChatMessage:
    """Return a message in OpenAI form; roles that OpenAI does not have are kept."""
    return ChatMessage(OPENAI_ROLES.get(role, role), content)


def compile_messages(builder: MessageBuilder, keys: Collection[str]) -> Fill[MessageBuilder] | None:
    """Compile messages that were built with sentinels in their texts.

    Returns:
        A function that fills them; None if a message has media, because empty texts beside media are left out.
    """
    texts = [split_at_sentinels(one.content, keys) for one in builder.messages if isinstance(one.content, str)]
    if len(texts) < len(builder.messages):
        return None
    compiled = list(zip(builder.messages, texts, strict=True))

    def fill(values: Mapping[str, object]) -> MessageBuilder:
        messages = [ChatMessage(one.role, text.fill(values)) if text.keys else one for one, text in compiled]
        return MessageBuilder(builder.roles, messages)

    return fill


class ApiFormat:
    """Converts dialogues to messages.

    Args:
        meta: the meta template; None joins the texts by newlines into one user message.

    Raises:
        ConfigError: ``begin`` of the meta template has the wrong shape.
    """

    def __init__(self, meta: MetaTemplate | None) -> None:
        self.meta = meta
        self.opening = _opening(meta) if meta else []
        self._sections = Sections(meta, self._rounds, self._outside, compile_messages)

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """Return the messages in OpenAI form. A string becomes one user message; messages stay as they are.

        Raises:
            PromptError: a role is not in the meta template, or the prompt is empty.
        """
        if isinstance(prompt, str):
            return (openai_message("HUMAN", prompt),)
        if is_raw(prompt):
            return raw_messages(prompt)
        if self.meta is not None and not chat_turns(prompt):
            return (*map(_to_message, self.opening), *self._dialogue(prompt, mode).messages)
        turns = self.turns(prompt, mode)
        if isinstance(turns, tuple):
            raise PromptError(
                "without a meta template there is no role for the media", fix="give the model a meta_template"
            )
        return tuple(map(_to_message, [ApiTurn("HUMAN", turns)] if isinstance(turns, str) else turns))

    def turns(self, prompt: str | PromptList, mode: Mode) -> Content | list[ApiTurn | str]:
        """Apply the meta template; in ``gen`` mode the prompt ends before the last generating slot.

        A text in the list comes from ``begin`` of the meta template; it cannot become a message.
        """
        if isinstance(prompt, str):
            return prompt
        if chat := chat_turns(prompt):
            turns: list[ApiTurn | str] = []
            for turn in chat:  # the meta template only maps the roles
                role = str(turn["role"])
                slot = self.meta.slot(role) if self.meta else None
                content = tuple(turn[MEDIA]) if MEDIA in turn else text_of(turn)
                turns.append(ApiTurn(slot.api_role if slot and slot.api_role else role, content))
            return turns
        if self.meta is None:
            # Texts joined by newlines; only media as bare parts, as in AISBench; both in one turn.
            media = [isinstance(item, Mapping) and MEDIA in item for item in prompt]
            if not any(media):
                return join_texts(prompt)
            return bare_parts(prompt) if all(media) else [ApiTurn("HUMAN", bare_parts(prompt))]
        return [*self.opening, *self._dialogue(prompt, mode).turns()]

    def _dialogue(self, prompt: PromptList, mode: Mode) -> MessageBuilder:
        builder = MessageBuilder()
        for part in self._sections.write(prompt, mode)[0]:
            builder.extend(part)
        if not builder.roles:
            raise PromptError("the prompt is empty", fix="look at it with `aisprompt view-prompt`")
        return builder

    def _outside(self, body: PromptList, meta: MetaTemplate) -> MessageBuilder:
        """Format a begin or end section: single turns, and examples as rounds."""
        builder = MessageBuilder()
        for piece in body.pieces:
            if isinstance(piece, PromptSection):
                builder.extend(self._sections.inner(piece))
            elif not isinstance(piece, str):  # a text has no role; it is lost, as in OpenCompass, and `check` warns
                _append_turn(builder, piece, meta.resolve(piece))
        return builder

    def _rounds(self, body: PromptList, cut: bool, meta: MetaTemplate) -> tuple[MessageBuilder, bool]:
        """Format the rounds of a section, without texts; True if the prompt ends here."""
        builder = MessageBuilder()
        pieces = split_rounds(body, meta)
        for piece in pieces:
            if not isinstance(piece, str) and _append_round(piece, meta, builder, cut=cut and piece is pieces[-1]):
                return builder, True
        return builder, False


def _append_round(turns: Round, meta: MetaTemplate, builder: MessageBuilder, *, cut: bool) -> bool:
    """Add the messages of one round; True if the prompt ends here."""
    for index, slot in enumerate(meta.round):
        if isinstance(slot, str):
            raise ConfigError(
                f"the meta template of an API model has a text in its round: {slot!r}",
                fix="write turns only: dict(role='HUMAN', api_role='HUMAN')",
            )
        turn = turns.get(index, EMPTY_TURN)
        if cut and slot.generates(turn):
            return True
        # A slot without data and without a default prompt adds no message.
        if index in turns or slot.prompt is not None:
            _append_turn(builder, turn, slot)
    return False


def _opening(meta: MetaTemplate) -> list[ApiTurn | str]:
    """Return ``begin`` of the meta template: one turn, several turns, or a text.

    Raises:
        ConfigError: it is none of these.
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


def _to_message(turn: ApiTurn | str) -> ChatMessage:
    if isinstance(turn, str):
        raise ConfigError(f"'begin' of an API model's meta_template must be a turn, not the text {turn!r}", fix=BEGIN)
    return openai_message(turn.role, turn.prompt)


def _append_turn(builder: MessageBuilder, turn: Turn, slot: Slot) -> None:
    role = turn.get("api_role", slot.api_role)
    if role is None:
        raise PromptError(
            f"the role {slot.role!r} of the meta template has no api_role",
            fix=f"dict(role={slot.role!r}, api_role='HUMAN')",
        )
    builder.append(role, slot.content(turn))


class RawMessagesFormat:
    """The chat format of a ``meta_template`` that is a list of messages, which are merged into those of the prompt.

    Args:
        meta: the messages.
    """

    def __init__(self, meta: Sequence[ChatMessage]) -> None:
        self.meta = tuple(meta)

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:  # noqa: ARG002  # nothing is cut
        """Return the messages merged with those of the meta template. A text becomes one user message, unmerged.

        Raises:
            PromptError: the prompt is made of turns, not messages.
        """
        if isinstance(prompt, str):
            return (ChatMessage("user", prompt),)
        if not is_raw(prompt):
            raise PromptError(
                "a meta_template that is a list of messages fits RawPromptTemplate only",
                fix="write it as dict(round=[...]), or use RawPromptTemplate",
            )
        return _merged(raw_messages(prompt), self.meta)


def is_raw(prompt: str | PromptList) -> bool:
    """Return whether a prompt is made of messages: every item has a role and a content, and there are no sections."""
    if isinstance(prompt, str):
        return False
    for piece in prompt.pieces:
        if isinstance(piece, (str, PromptSection)) or "role" not in piece or "content" not in piece:
            return False
    return len(prompt.pieces) > 0


def raw_messages(prompt: PromptList) -> tuple[ChatMessage, ...]:
    """Return the messages of a prompt for which `is_raw` is true."""
    return tuple(message_from_json(item) for item in prompt if isinstance(item, Mapping))


def _merged(messages: Sequence[ChatMessage], meta: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Put each meta message in front of the next message of its role, or add it as a message of its own."""
    merged: list[ChatMessage] = []
    rest = list(messages)
    for added in meta:
        roles = [message.role for message in rest]
        if added.role in roles:
            place = roles.index(added.role)
            first, second = added.content, rest[place].content
            are_texts = isinstance(first, str) and isinstance(second, str)
            content = f"{first}{second}" if are_texts else join_contents(first, second)
            merged += [*rest[:place], replace(rest[place], content=content)]
            rest = rest[place + 1 :]
        else:
            merged.append(added)
    return (*merged, *rest)
