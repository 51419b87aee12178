"""The folder of a sample: the files that its row brings, and those that the agent leaves there."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from ais_prompt.errors import DataError
from ais_prompt.types import LeftFile
from ais_prompt.utils import digest, media_path, open_regular, parse_text

_FORM = "{'name.txt': 'its text', 'other.bin': {'base64': '…'}, 'copy.pdf': {'path': 'where/it/is.pdf'}}"
MOST_LISTED = 1000
"""Files that are listed."""


def write_files(folder: Path, row: Mapping[str, Any], column: str) -> dict[str, tuple[int, int]]:
    """Put the files of a row into a folder.

    Args:
        folder: an empty folder.
        row: the columns of the sample.
        column: holds name → content; a row without it brings none.

    Returns:
        Name → size and time of each file, to see later whether it was changed.

    Raises:
        DataError: the column has another form, or a file that it names cannot be read.
    """
    contents = _contents(row, column)
    for name, content in contents.items():
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
            raise DataError(f"the file {name!r} would be outside of the sample's folder", fix="write a relative path")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return {name: state_of((folder / name).lstat()) for name in contents}


def brought_digest(row: Mapping[str, Any], column: str) -> str:
    """Return a digest of the files of a row; empty if it brings none, or they cannot be read: its agent fails then."""
    try:
        contents = _contents(row, column)
    except DataError:
        return ""
    each = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return digest(each) if each else ""


def left_files(folder: Path, brought: Mapping[str, tuple[int, int]], most: int) -> tuple[LeftFile, ...]:
    """Return the files that are new or changed, in the order of their names; links are not followed.

    Args:
        folder: of the sample.
        brought: from `write_files`.
        most: bytes of content that are kept, of the first files that fit.
    """
    found: list[LeftFile] = []
    for name, state in sorted(_files(folder)):
        if brought.get(name) == state_of(state) or len(found) == MOST_LISTED:
            continue
        content = None
        if state.st_size <= most:
            try:
                with open_regular(folder / name) as stream:
                    content = stream.read(most + 1)
            except OSError:  # it may not be read
                content = None
        if content is None or len(content) > most:
            found.append(LeftFile(name, state.st_size))
            continue
        most -= len(content)
        found.append(_kept(name, content))
    return tuple(found)


def _kept(name: str, content: bytes) -> LeftFile:
    try:
        return LeftFile(name, len(content), text=content.decode())
    except UnicodeDecodeError:
        return LeftFile(name, len(content), base64=base64.b64encode(content).decode())


def _contents(row: Mapping[str, Any], column: str) -> dict[str, bytes]:
    """Return the name and content of each file of a row.

    Raises:
        DataError: the column has another form, or a file that it names cannot be read.
    """
    value = row.get(column)
    if value is None or value == "":
        return {}
    try:
        files = parse_text(value) if isinstance(value, str) else value
        return {str(name): _content(one) for name, one in files.items()}
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise DataError(f"the column {column!r} holds no files: {error!r}", fix=f"write {_FORM}") from None
    except OSError as error:
        what = f"a file in the column {column!r} cannot be read: {error}"
        raise DataError(what, fix="write its whole path") from None


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if "path" in value:
        with open_regular(media_path(value["path"])) as stream:
            return stream.read()
    return base64.b64decode(value["base64"], validate=True)


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for root, _, names in os.walk(folder, onerror=None):
        for name in names:
            path = Path(root, name)
            try:
                state = path.lstat()
            except OSError:
                continue
            if stat.S_ISREG(state.st_mode):
                yield path.relative_to(folder).as_posix(), state


def state_of(state: os.stat_result) -> tuple[int, int]:
    """Return size and time of a file, to see later whether it was changed."""
    return state.st_size, state.st_mtime_ns
