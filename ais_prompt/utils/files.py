"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ais_prompt.errors import StoreError


def write_text_atomic(path: Path, text: str) -> None:
    r"""Write a UTF-8 text file beside its place, then rename it; its folder is made if need be.

    A reader sees the old file or the new one, never a half of it. Lone surrogates, which UTF-8 cannot hold, are
    written as ``\udXXX``, which JSON reads back as they were.

    Raises:
        StoreError: it cannot be written (disk full, no permission); nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot write {path.name}: {error.strerror or error}",
            where=str(path.parent),
            mend="check the free space and the permissions, or set another work_dir",
        ) from error
