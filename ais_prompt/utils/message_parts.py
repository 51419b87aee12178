"""Parts of messages that are not text: calls of tools, their results, images, audio and video.

A message of the assistant may have parts ``{"type": "tool_call", "id": ..., "name": ..., "arguments": ...}``, with the
arguments as a JSON text. A message with the role ``tool`` has one part ``{"type": "tool_result", "id": ..., "text":
...}``. So code that shows, stores or compares prompts knows them as it knows images.

A media part has OpenAI's form: a ``type``, and under that name a URL, ``{"url": ...}`` or, for ``input_audio``,
``{"data": ...}``. A URL that starts with ``file://`` or has no scheme is a local file; relative paths are
looked up in the working directory, then in the folder of all data. Its kind is read from the content, not from the
name.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct

from ais_prompt.errors import DataError
from ais_prompt.types import ChatMessage, Prompt, ToolCall, message_to_json
from ais_prompt.utils.digests import file_digest
from ais_prompt.utils.files import data_root, open_regular, read_regular
from ais_prompt.utils.json import parse_written

CALL: Final = "tool_call"
RESULT: Final = "tool_result"
TOOL_ROLE: Final = "tool"
SYSTEM_FIX: Final = (
    "give the model a meta_template without SYSTEM, dict(round=[dict(role='HUMAN', api_role='HUMAN'), "
    "dict(role='BOT', api_role='BOT', generate=True)]), and the system turn fallback_role='HUMAN'"
)
_SYSTEM: Final = re.compile(
    r"\b(system|developer)\b.{0,80}\b(role|support\w*|instruction\w*|not (enabled|allowed|permitted))\b"
    r"|\b(role|support\w*)\b.{0,80}\b(system|developer)\b",
    re.IGNORECASE | re.DOTALL,
)


def call_messages(text: str, calls: Sequence[ToolCall], results: Sequence[str], turn: int) -> Iterator[ChatMessage]:
    """Yield the text and the calls of the assistant in a turn, then the result of each call.

    The ids count the calls, whatever ids a server gave them, so that equal conversations have equal requests. They have
    nine letters and digits, which Mistral's chat templates ask for.

    Args:
        text: of the assistant.
        calls: of the assistant.
        results: of each call; empty where no call was carried out.
        turn: number of the turn, from 0.
    """
    if not calls:
        yield ChatMessage("assistant", text)
        return
    ids = [f"call{turn:03}{number:02}" for number in range(len(calls))]
    said = [{"type": "text", "text": text}] if text else []
    called = [
        {"type": CALL, "id": name, "name": call.name, "arguments": call.arguments}
        for name, call in zip(ids, calls, strict=True)
    ]
    yield ChatMessage("assistant", (*said, *called))
    for name, result in zip(ids, results, strict=bool(results)):
        yield ChatMessage(TOOL_ROLE, ({"type": RESULT, "id": name, "text": result},))


def parts_of(message: ChatMessage, kind: str) -> list[Mapping[str, Any]]:
    """Return the calls or the results of a message."""
    content = message.content
    return [] if isinstance(content, str) else [part for part in content if part.get("type") == kind]


def prompt_texts(prompt: Prompt, between: str = "\n") -> list[str]:
    """Return the text of a prompt, or that of each message: the texts of its parts, with ``between`` in between."""
    if isinstance(prompt, str):
        return [prompt]
    return [
        content if isinstance(content, str) else between.join(part["text"] for part in content if "text" in part)
        for content in (message.content for message in prompt)
    ]


def shown_content(message: Mapping[str, Any]) -> str | list[Mapping[str, Any]]:
    """Return the content of a message as people read it: with the calls that the form of OpenAI has beside it.

    Args:
        message: in the form of `message_to_json`. Beside calls its content may be null.
    """
    content = message.get("content")
    if not (calls := [*_listed(message.get("tool_calls")), *_listed(message.get("function_call"))]):
        return "" if content is None else content
    texts = [{"type": "text", "text": content}] if isinstance(content, str) and content else list(content or ())
    return [*texts, *map(_call_part, calls)]


def with_call_parts(message: ChatMessage) -> ChatMessage:
    """Return a message whose calls, or whose result of a call, are parts, as formats other than OpenAI's are made of.

    Raises:
        DataError: the form of OpenAI has a call without id or name.
    """
    if message.role == TOOL_ROLE and isinstance(message.content, str) and (known := message.extra.get("tool_call_id")):
        return ChatMessage(TOOL_ROLE, ({"type": RESULT, "id": str(known), "text": message.content},))
    if not message.extra.get("tool_calls"):
        return message
    parts = shown_content(message_to_json(message))
    calls = [part for part in parts if isinstance(part, Mapping) and part.get("type") == CALL]
    if bad := [part for part in calls if not part["id"]]:
        what = f"a message of the assistant calls {bad[0]['name']} without an id, which this kind of model needs"
        raise DataError(what, fix="give each of tool_calls an id, and the result that tool_call_id")
    return ChatMessage(message.role, tuple(part for part in parts if isinstance(part, Mapping)))


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value] if value else []


def _call_part(call: Any) -> Mapping[str, Any]:
    """Return the part of a call in the form of OpenAI; of anything else its JSON in place of the name."""
    function = call.get("function", call) if isinstance(call, Mapping) else call
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        return {"type": CALL, "id": "", "name": _json_text(call), "arguments": ""}
    arguments = function.get("arguments", "")
    written = arguments if isinstance(arguments, str) else _json_text(arguments)
    return {"type": CALL, "id": str(call.get("id") or ""), "name": name, "arguments": written}


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def describe_call(part: Mapping[str, Any]) -> str:
    """Return ``calls NAME ARGUMENTS`` for a call; empty for other parts."""
    return f"calls {part['name']} {part['arguments']}" if part.get("type") == CALL else ""


def text_of_calls(message: ChatMessage) -> str:
    """Return the text of the assistant beside its calls."""
    content = message.content
    return content if isinstance(content, str) else "".join(str(one["text"]) for one in content if "text" in one)


def openai_json(message: ChatMessage, *, parsed: bool = False) -> dict[str, Any]:
    """Return a message in the form of the OpenAI API.

    Args:
        message: of a conversation, with or without calls.
        parsed: give arguments as mappings, as chat templates want them, where they are JSON; else as texts.
    """
    if results := parts_of(message, RESULT):
        return {"role": message.role, "tool_call_id": results[0]["id"], "content": results[0]["text"]}
    if not (calls := parts_of(message, CALL)):
        return message_to_json(message)
    functions = [
        {
            "name": call["name"],
            "arguments": arguments_of(call) if parsed else call["arguments"],
        }
        for call in calls
    ]
    return {
        "role": message.role,
        "content": text_of_calls(message),
        "tool_calls": [
            {"id": call["id"], "type": "function", "function": function}
            for call, function in zip(calls, functions, strict=True)
        ],
    }


def arguments_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as a mapping; those that are no JSON object as one text, ``arguments``."""
    try:
        found = parse_written(call["arguments"] or "{}")
    except ValueError:
        found = call["arguments"]
    return found if isinstance(found, dict) else {"arguments": found}


def refuses_system(error: str) -> bool:
    """Return whether an error of a server or a chat template says that there is no system role."""
    return bool(_SYSTEM.search(error))


def role_fix(error: str) -> str:
    """Return the fix for messages whose roles a chat template refuses."""
    return SYSTEM_FIX if refuses_system(error) else "give the prompt the roles that it takes, in its order"


KINDS: Final[Mapping[str, str]] = {
    "image_url": "image",
    "video_url": "video",
    "audio_url": "audio",
    "input_audio": "audio",
}
"""Type of a media part → what it shows."""

FILE_NOTE: Final = "file"
"""The key of a part that holds a `MediaFile.note`; it is not sent."""

_FILE: Final = "file://"
_SCHEME: Final = re.compile(r"data:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BASE64: Final = re.compile(r"data:([^,]*?);base64,", re.IGNORECASE)
_HEAD: Final = 8192
"""Number of bytes at the start of a file that are read to find its kind."""
_DIGEST_SHOWN: Final = 12
"""Number of digits of a file's digest that are shown; `MediaFile.note` has all of them."""


class MediaFile(Struct, frozen=True):
    """A local file that a part names.

    Attributes:
        path: where it is.
        mime: its media type, e.g. ``image/png``, as its content says.
        extension: the usual ending of such files, e.g. ``png``.
        size: in bytes.
        modified_ns: when it was last changed, in nanoseconds.
    """

    path: Path
    mime: str
    extension: str
    size: int
    modified_ns: int

    def note(self) -> dict[str, Any]:
        """Return ``mime``, ``bytes`` and ``sha256`` as plain JSON values. An unchanged file is read only once.

        Raises:
            DataError: it cannot be read.
        """
        return {"mime": self.mime, "bytes": self.size, "sha256": _digest(self)}

    def read(self) -> bytes:
        """Return its content.

        Raises:
            DataError: it cannot be read.
        """
        try:
            return read_regular(self.path)
        except OSError as error:
            raise _unreadable(self.path, error) from None

    def base64(self) -> str:
        """Return its content in base64.

        Raises:
            DataError: it cannot be read.
        """
        return base64.b64encode(self.read()).decode()


def has_scheme(reference: str) -> bool:
    """Return whether a text has a scheme, such as ``https://...``, ``file://...`` or ``data:...``; a path has none."""
    return _SCHEME.match(reference) is not None


def source_of(part: Mapping[str, Any]) -> str:
    """Return the URL, path or base64 text of a media part; empty for a text part."""
    body = part.get(str(part.get("type"))) if part.get("type") in KINDS else None
    if isinstance(body, Mapping):
        body = body.get("url", body.get("data"))
    return body if isinstance(body, str) else ""


def local_file(part: Mapping[str, Any]) -> MediaFile | None:
    """Return the local file that a part names; None if it names none.

    Raises:
        DataError: it does not exist, cannot be read, or is of another kind than the part.
    """
    source = _local_source(part)
    if not source:
        return None
    file = _probe(media_path(source))
    expected, family = KINDS[part["type"]], file.mime.partition("/")[0]
    # Audio and video share containers (MP4, WebM, Ogg), so audio is accepted as video, and video as audio.
    if family != expected and {family, expected} != {"audio", "video"}:
        what = f"{str(file.path)!r} is given as {expected}, but it is {file.mime}"
        raise DataError(what, fix="check the file, and the marker in front of it")
    return file


def references(value: Any) -> Iterator[str]:
    """Yield the paths and URLs in a part, or in any JSON value with parts, without ``data:`` URLs.

    Texts of the model are not looked at. A part of an unknown type is: its server may download what it names.
    """
    if isinstance(value, Mapping):
        source = _local_source(value)
        if source and not has_scheme(source):
            yield source
        for key, inner in value.items():
            if key != "text":
                yield from references(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from references(inner)
    elif isinstance(value, str) and has_scheme(value) and not value.lower().startswith("data:"):
        yield value


def noted_files(prompt: Prompt) -> list[dict[str, Any]]:
    """Return the local files that a prompt sends: ``path`` as the part has it, and the keys of `MediaFile.note`."""
    contents = [] if isinstance(prompt, str) else [message.content for message in prompt]
    return [
        {"path": source, **part[FILE_NOTE]}
        for content in contents
        if not isinstance(content, str)
        for part in content
        if (source := _local_source(part)) and FILE_NOTE in part
    ]


def is_url(reference: str) -> bool:
    """Return whether a reference has a scheme other than ``file``, so it is not a path."""
    return has_scheme(reference) and not reference.lower().startswith(_FILE)


def media_path(reference: str) -> Path:
    """Return the path of a local file from a path or a ``file://`` URL."""
    name = reference[len(_FILE) :] if reference.lower().startswith(_FILE) else reference
    # Templates put a path after "file://" unquoted, but a URL may be quoted: the unquoted name is tried first.
    quoted = "%" in name and not os.path.exists(name)  # noqa: PTH110  # Path.exists raises an error for long names
    path = Path(unquote(name) if quoted else name)
    # Rows of a benchmark name its files below the folder of all data, so that they are the same on every machine.
    of_benchmark = data_root() / path
    return path if os.path.exists(path) or not os.path.exists(of_benchmark) else of_benchmark  # noqa: PTH110


def check_part(part: Mapping[str, Any]) -> None:
    """Raise an error unless a media part can be sent. Nothing is downloaded.

    Raises:
        DataError: as `local_file`; or the base64 of a ``data:`` URL is broken.
    """
    local_file(part)
    source = source_of(part)
    if found := _BASE64.match(source):
        _decoded(source[found.end() :], source)


def part_bytes(part: Mapping[str, Any]) -> bytes | None:
    """Read the content of a media part: a local file, or base64. None for a URL of another machine.

    Raises:
        DataError: as `check_part`.
    """
    file = local_file(part)
    if file is not None:
        return file.read()
    source = source_of(part)
    if found := _BASE64.match(source):
        return _decoded(source[found.end() :], source)
    return None if has_scheme(source) else _decoded(source, source)


def describe_part(part: Mapping[str, Any]) -> str:
    """Describe a media part in one line: kind, media type, size, digest of a local file, source; "" for a text part."""
    source = source_of(part)
    if not source:
        return ""
    words = [KINDS[part["type"]]]
    if note := part.get(FILE_NOTE):
        words += [note["mime"], f"{note['bytes']} bytes", f"sha256 {note['sha256'][:_DIGEST_SHOWN]}"]
    elif found := _BASE64.match(source):
        words += [found[1], _size((len(source) - found.end()) * 3 // 4)]
    return ", ".join(words) + f": {_shortened(source)}"


def _decoded(text: str, source: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error as error:
        raise DataError(
            f"what should be base64 is not: {_shortened(source)!r} ({error})",
            fix="give base64, or write '{image}' instead of 'data:...;base64,{image}' for paths and URLs",
        ) from None


def _local_source(part: Mapping[str, Any]) -> str:
    """Return the path or ``file://`` URL of a part; empty if it names no local file."""
    source = source_of(part)
    # The value of ``data`` of an input_audio part without a scheme is base64, not a path.
    is_path = part.get("type") != "input_audio" and not has_scheme(source)
    return source if is_path or source.lower().startswith(_FILE) else ""


def _probe(path: Path) -> MediaFile:
    import filetype

    try:
        status = path.stat()
        with open_regular(path) as stream:
            kind = filetype.guess(stream.read(_HEAD))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if kind is None:
        raise DataError(
            f"the content of {str(path)!r} does not say what kind of file it is",
            fix="convert it to a common format such as PNG, JPEG, WAV, MP3 or MP4",
        )
    return MediaFile(path, kind.mime, kind.extension, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=65536)
def _digest(file: MediaFile) -> str:
    try:
        return file_digest(file.path)
    except OSError as error:
        raise _unreadable(file.path, error) from None


def _unreadable(path: Path, error: Exception) -> DataError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return DataError(
        f"the media file {_shortened(str(path))!r} cannot be read: {reason}",
        fix="give a full path, or one that is relative to the working directory or to $AISPROMPT_DATA",
    )


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 1024:.1f} KiB" if count < 1024**2 else f"{count / 1024**2:.1f} MiB"


def _shortened(source: str, most: int = 100) -> str:
    return source if len(source) <= most else source[:most] + "…"
