"""Media on their way into messages: parts in OpenAI form, next to texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.chat.formats import ChatFormat, Mode
from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import Item, Piece, PromptList, Section, text_of
from ais_prompt.types import Content, Message, Prompt
from ais_prompt.utils.media import FILE_NOTE, local_file

MEDIA: Final = "prompt_mm"
"""The key of a turn whose value is a list of parts."""


class LocalFilesFormat:
    """Another format, whose messages also say what each local file is.

    A part that names a file of this machine gets a note with the file's media type, size and digest. With it a changed
    file makes another request, and people see what will be sent; the file itself is read when it is sent.

    Args:
        inner: the format that makes the messages.
    """

    def __init__(self, inner: ChatFormat) -> None:
        self.inner = inner

    def render(self, prompt: str | PromptList, mode: Mode) -> Prompt:
        """The messages of the inner format with their notes.

        Raises:
            DataError: a file is missing, cannot be read, or is of another kind than its part.
            PromptError: as the inner format; or a message has a list of parts that is empty.
        """
        rendered = self.inner.render(prompt, mode)
        return rendered if isinstance(rendered, str) else tuple(map(_noted, rendered))


def has_media(item: Item) -> bool:
    """True for a turn that is made of parts."""
    return isinstance(item, Mapping) and MEDIA in item


def refuse_media(pieces: Iterable[Piece]) -> None:
    """See that texts and turns can become one text.

    Raises:
        PromptError: a turn has parts, or is a message in OpenAI form, whose content is no turn's prompt.
    """
    for item in pieces:
        if isinstance(item, (str, Section)):
            continue
        if MEDIA in item:
            raise PromptError("this model is given text, and no images or other media", fix="use OpenAIChatModel")
        if "content" in item:
            raise PromptError(
                "messages in OpenAI form need a chat model", fix="use a chat model, or PromptTemplate with a dialogue"
            )


def bare_parts(prompt: PromptList) -> Content:
    """All that is said, as parts without roles; empty texts vanish."""
    said: Content = ()
    for item in prompt:
        said = join_contents(said, tuple(item[MEDIA]) if isinstance(item, Mapping) and MEDIA in item else text_of(item))
    return said


def join_contents(first: Content, second: Content) -> Content:
    """Two contents as one: texts with a newline between them; next to parts, a text becomes a part."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n{second}"
    return _parts(first) + _parts(second)


def _parts(content: Content) -> tuple[Mapping[str, Any], ...]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},) if content else ()
    return content


def _noted(message: Message) -> Message:
    if isinstance(message.content, str):
        return message
    if not message.content:
        raise PromptError(
            f"the {message.role} message has no part at all",
            fix="write markers into the row: <AIS_TEXT_START>What is this?<AIS_CONTENT_TAG>",
        )
    return replace(message, content=tuple(map(_noted_part, message.content)))


def _noted_part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    file = local_file(part)
    return part if file is None else {**part, FILE_NOTE: file.note()}
