"""Media in messages: parts in OpenAI form beside texts; and the folders and URLs from which rows may take them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import DataError, PromptError
from ais_prompt.prompts.base import ChatFormat, Mode
from ais_prompt.prompts.prompt_list import Piece, PromptList, PromptSection, text_of
from ais_prompt.types import ChatMessage, Content, Prompt
from ais_prompt.utils import FILE_NOTE, KINDS, has_scheme, is_url, local_file, media_path, references, source_of

MEDIA: Final = "prompt_mm"
"""The key of a turn for a list of parts."""
_MODELS_WITH_MEDIA: Final = "use OpenAIChatModel, or HuggingFaceChatModel with a model that has a processor"


class LocalFilesFormat:
    """Wraps a chat format and describes each local file in its messages.

    A part that names a local file gets a note with its media type, size and digest. So a changed file makes a new
    request, and a preview shows what will be sent. The file itself is read when the request is sent.

    Args:
        inner: the format of the messages.
    """

    def __init__(self, inner: ChatFormat) -> None:
        self.inner = inner

    def render(self, prompt: str | PromptList, mode: Mode) -> Prompt:
        """Return the messages of the inner format, with notes.

        Raises:
            DataError: a file is missing, cannot be read, or is of another kind than its part.
            PromptError: as the inner format; or a message has an empty list of parts.
        """
        rendered = self.inner.render(prompt, mode)
        return rendered if isinstance(rendered, str) else note_files(rendered)


def refuse_media(pieces: Iterable[Piece]) -> None:
    """Check that texts and turns can become one text.

    Raises:
        PromptError: a turn has parts, or is a message in OpenAI form.
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
    """Add a note to each local file in the messages.

    Raises:
        DataError, PromptError: as `LocalFilesFormat.render`.
    """
    noted: list[ChatMessage] = []
    for message in messages:
        if isinstance(message.content, str):
            noted.append(message)
            continue
        if not message.content:
            raise PromptError(
                f"the {message.role} message has no parts",
                fix="write markers into the row: <AIS_TEXT_START>What is this?<AIS_CONTENT_TAG>",
            )
        if wrong := [part for part in message.content if not isinstance(part, Mapping)]:
            fix = (
                "write a list of parts such as {'type': 'text', 'text': …}; MMPromptTemplate makes them from prompt_mm"
            )
            raise PromptError(f"the {message.role} message has {wrong[0]!r} in place of a part", fix=fix)
        files = [(part, local_file(part)) for part in message.content]
        parts = tuple(part if file is None else {**part, FILE_NOTE: file.note()} for part, file in files)
        noted.append(replace(message, content=parts))
    return tuple(noted)


def check_taken(part: Mapping[str, Any], kinds: Collection[str]) -> None:
    """Check that a local model accepts a part.

    Args:
        part: a part in OpenAI form.
        kinds: the media that the model accepts, of ``image``, ``audio`` and ``video``; empty for text only.

    Raises:
        PromptError: the model does not accept such parts, or the part would have to be downloaded.
    """
    if not kinds:
        raise _no_media()
    kind = KINDS.get(str(part.get("type")))
    if kind is None and part.get("type") != "text":
        raise PromptError(
            f"a local model does not accept parts of the type {part.get('type')!r}",
            fix=f"use one of text, {', '.join(KINDS)}",
        )
    if kind is not None and kind not in kinds:
        what = f"this model takes {' and '.join(sorted(kinds))}, but the prompt has {kind}"
        raise PromptError(what, fix=_MODELS_WITH_MEDIA)
    source = source_of(part)
    if has_scheme(source) and not source.lower().startswith(("data:", "file://")):
        raise PromptError(
            f"a local model reads files and downloads nothing, but the prompt has the URL {source[:200]!r}",
            fix="download it, and write the path of the file",
        )


def bare_parts(prompt: PromptList) -> Content:
    """Return the content of all items as parts, without roles; empty texts are left out."""
    content: Content = ()
    for item in prompt:
        parts = tuple(item[MEDIA]) if isinstance(item, Mapping) and MEDIA in item else text_of(item)
        content = join_contents(content, parts)
    return content


def join_contents(first: Content, second: Content) -> Content:
    """Join two contents: texts with a newline between them; beside parts, a text becomes a part."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n{second}"
    return _parts(first) + _parts(second)


def _no_media() -> PromptError:
    return PromptError("this model takes text only, no images or other media", fix=_MODELS_WITH_MEDIA)


def _parts(content: Content) -> tuple[Mapping[str, Any], ...]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},) if content else ()
    return content


class MediaRoots(Struct, frozen=True):
    """The folders and URLs from which rows may take media. A row is data of somebody else: it sends no other file.

    Attributes:
        folders: absolute, without symbolic links.
        urls: each with everything below it; ``https://`` is every server.
        where: config path of ``media_roots``.
    """

    folders: tuple[str, ...]
    urls: tuple[str, ...]
    where: str = ""

    @classmethod
    def of(cls, references: Iterable[str], where: str = "") -> MediaRoots:
        """Return the roots of paths, ``file://`` URLs and URLs; a relative path is below the working directory."""
        roots = list(dict.fromkeys(references))
        folders = [os.path.realpath(media_path(root)) for root in roots if not is_url(root)]
        return cls(tuple(folders), tuple(filter(is_url, roots)), where)

    def check_prompt(self, prompt: PromptList, row: int) -> None:
        """Check the media in the prompt of a row.

        Raises:
            DataError: one is outside of the roots.
        """
        for piece in prompt.pieces:
            if isinstance(piece, PromptSection):
                if piece.has_media:
                    self.check_prompt(piece.body, row)
            elif not isinstance(piece, str):
                self.check_parts([piece.get("prompt_mm"), piece.get("content")], row)

    def check_parts(self, parts: Iterable[Any], row: int) -> None:
        """Check media parts of a row in OpenAI form, or lists of them. Texts hold no media.

        Raises:
            DataError: one is outside of the roots.
        """
        for part in parts:
            if isinstance(part, Mapping | list | tuple):
                for reference in references(part):
                    self._check(reference, row)

    def _check(self, reference: str, row: int) -> None:
        if is_url(reference):
            if not any(_is_below(reference, root) for root in self.urls):
                folder = reference.partition("?")[0].rpartition("/")[0]
                # Of a server without a path, the server itself.
                folder = reference if folder.endswith("/") else f"{folder}/"
                raise self._refused(f"the URL {reference[:200]!r}", folder, row)
            return
        path = media_path(reference)
        # Relative paths are looked up in the working directory, so they may name what is below it.
        folders = self.folders if path.is_absolute() else (*self.folders, os.path.realpath(""))
        try:
            real = Path(os.path.realpath(path))
        except ValueError:  # a NUL character: there is no such file
            return
        if not any(real.is_relative_to(folder) for folder in folders):
            raise self._refused(f"the media file {str(path)[:200]!r}", str(real.parent), row)

    def _refused(self, what: str, root: str, row: int) -> DataError:
        return DataError(
            f"a row names {what}, which is outside of the data folder",
            where=f"row {row} · {self.where}",
            fix=f"if it may be sent, write reader_cfg=dict(media_roots=[{root[:200]!r}], ...)",
        )


def _is_below(url: str, root: str) -> bool:
    try:
        parts, above = urlsplit(url), urlsplit(root)
    except ValueError:  # a broken address
        return False
    path, folder = (PurePosixPath(unquote(one.path) or "/") for one in (parts, above))
    is_allowed_server = parts.scheme == above.scheme and above.netloc.lower() in ("", parts.netloc.lower())
    # Browsers and some clients take a backslash for a slash.
    return is_allowed_server and path.is_relative_to(folder) and ".." not in path.parts and "\\" not in str(path)
