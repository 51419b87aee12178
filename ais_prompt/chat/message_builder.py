"""What is said to an API model: messages, and who says each in the words of the meta template."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from ais_prompt.chat.media import join_contents
from ais_prompt.chat.sections import Fill
from ais_prompt.prompts.fill import unsealed
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
