"""Refuse to write through symbolic links in a run folder: they may lead to files elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ais_prompt.errors import StoreError
from ais_prompt.store.layout import RunFolder


def refuse_links(folder: RunFolder) -> None:
    """Raise an error if a run folder holds a symbolic link that leads out of it. Those of submitit do not.

    The folder itself may be a link, as the user named it. The folders of single shards are left out: they may be a
    thousand, and only their own process writes them.

    Raises:
        StoreError: there is a link, or the folder cannot be read.
    """
    if (link := next(_links(folder.root, folder.shards, os.path.realpath(folder.root)), None)) is not None:
        raise StoreError(
            "a run folder is not written through a symbolic link that leads out of it",
            where=str(link),
            fix="remove the link, or put the file or folder itself there",
        )


def _links(folder: Path | str, but: Path, root: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except FileNotFoundError:  # a new run, or a temporary folder that is gone
        return
    except OSError as error:
        fix = "check its permissions"
        raise StoreError(f"cannot read: {error.strerror}", where=str(folder), fix=fix) from error
    for entry in found:
        if entry.is_symlink():
            if not Path(os.path.realpath(entry.path)).is_relative_to(root):
                yield entry.path
        elif entry.is_dir(follow_symlinks=False) and entry.path != str(but):
            yield from _links(entry.path, but, root)
