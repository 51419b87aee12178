"""Messages in OpenAI form. A meta template applies to them only if it is a list of messages itself.

The rules are those of OpenCompass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.prompts.format import Mode
from ais_prompt.prompts.message_media import join_contents
from ais_prompt.prompts.prompt_list import PromptList, PromptSection
from ais_prompt.types import ChatMessage, Content
from ais_prompt.types.request import message_from_json


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
            merged += [*rest[:place], replace(rest[place], content=_in_front(added.content, rest[place].content))]
            rest = rest[place + 1 :]
        else:
            merged.append(added)
    return (*merged, *rest)


def _in_front(first: Content, second: Content) -> Content:
    if isinstance(first, str) and isinstance(second, str):
        return first + second
    return join_contents(first, second)
