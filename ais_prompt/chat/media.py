"""Media on their way into messages: parts in OpenAI form, next to texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.chat.formats import ChatFormat, Mode
from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import Item, Piece, PromptList, PromptSection, text_of
from ais_prompt.types import ChatMessage, Content, Prompt
from ais_prompt.utils.media import FILE_NOTE, KINDS, has_scheme, local_file, source_of

MEDIA: Final = "prompt_mm"
"""The key of a turn whose value is a list of parts."""
_TAKERS: Final = "use OpenAIChatModel, or HuggingFaceChatModel with a model that has a processor"
"""Which models take media, for messages."""


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
        return rendered if isinstance(rendered, str) else note_files(rendered)


def has_media(item: Item) -> bool:
    """True for a turn that is made of parts."""
    return isinstance(item, Mapping) and MEDIA in item


def refuse_media(pieces: Iterable[Piece]) -> None:
    """See that texts and turns can become one text.

    Raises:
        PromptError: a turn has parts, or is a message in OpenAI form, whose content is no turn's prompt.
    """
    for item in pieces:
        if isinstance(item, (str, PromptSection)):
            continue
        if MEDIA in item:
            raise _no_media()
        if "content" in item:
            raise PromptError(
                "messages in OpenAI form need a chat model", fix="use a chat model, or PromptTemplate with a dialogue"
            )


def note_files(messages: Iterable[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Say of each local file in the messages what it is.

    Raises:
        DataError, PromptError: as `LocalFilesFormat.render`.
    """
    return tuple(map(_noted, messages))


def check_taken(part: Mapping[str, Any], kinds: Collection[str]) -> None:
    """See that a model in this process can be given a part.

    Args:
        part: a part in OpenAI form.
        kinds: what the model takes, of ``image``, ``audio`` and ``video``; empty if it takes text only.

    Raises:
        PromptError: the model does not take such parts, or the part has to be fetched from elsewhere.
    """
    if not kinds:
        raise _no_media()
    kind = KINDS.get(str(part.get("type")))
    if kind is None and part.get("type") != "text":
        raise PromptError(
            f"a local model knows no parts of the type {part.get('type')!r}",
            fix=f"use one of text, {', '.join(KINDS)}",
        )
    if kind is not None and kind not in kinds:
        raise PromptError(f"this model takes {' and '.join(sorted(kinds))}, but the prompt has {kind}", fix=_TAKERS)
    source = source_of(part)
    if has_scheme(source) and not source.lower().startswith(("data:", "file://")):
        raise PromptError(
            f"a local model is given files and fetches nothing, but the prompt has the URL {source[:200]!r}",
            fix="download it, and write the path of the file",
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


def _no_media() -> PromptError:
    return PromptError("this model is given text, and no images or other media", fix=_TAKERS)


def _parts(content: Content) -> tuple[Mapping[str, Any], ...]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},) if content else ()
    return content


def _noted(message: ChatMessage) -> ChatMessage:
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
