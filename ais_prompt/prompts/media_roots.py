"""The folders and URLs from which the rows of a dataset may take media."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ais_prompt.errors import DataError
from ais_prompt.prompts.prompt_list import Item
from ais_prompt.utils.media import is_url, media_path, references


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

    def check_items(self, items: Iterable[Item], row: int) -> None:
        """Check the media of texts, turns and messages of a row.

        Raises:
            DataError: one is outside of the roots.
        """
        for item in items:
            if not isinstance(item, str):
                self.check_parts([item.get("prompt_mm"), item.get("content")], row)

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
                raise self._refused(f"the URL {reference[:200]!r}", _folder_of(reference), row)
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


def _folder_of(url: str) -> str:
    folder = url.partition("?")[0].rpartition("/")[0]
    return url if folder.endswith("/") else f"{folder}/"  # of a server without a path, the server itself


def _is_below(url: str, root: str) -> bool:
    try:
        parts, above = urlsplit(url), urlsplit(root)
    except ValueError:  # a broken address
        return False
    path, folder = (PurePosixPath(unquote(one.path) or "/") for one in (parts, above))
    is_allowed_server = parts.scheme == above.scheme and above.netloc.lower() in ("", parts.netloc.lower())
    # Browsers and some clients take a backslash for a slash.
    return is_allowed_server and path.is_relative_to(folder) and ".." not in path.parts and "\\" not in str(path)
