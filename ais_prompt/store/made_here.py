"""Tell the runs that this user made on this machine from those of others.

A run folder has a file ``.made-here``: an HMAC of the folder's path and its ``config.py``, with a key that only this
user can read. A folder that was moved, copied, unpacked from an archive or changed by hand counts as one of others.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from ais_prompt.store.disk import replacing
from ais_prompt.store.layout import RunFolder
from ais_prompt.utils.files import read_regular

STATE: Final = "XDG_STATE_HOME"
"""Environment variable with the folder for such files; ``~/.local/state`` without it."""
KEY_BYTES: Final = 32


def note_made_here(folder: RunFolder, config: bytes) -> None:
    """Note that this user made a run with this ``config.py``. Nothing is noted if the key cannot be kept.

    Raises:
        StoreError: the folder cannot be written.
    """
    if (mark := _mark(folder, config)) is not None:
        with replacing(folder.made_here_file, restorable=True, binary=True) as stream:
            stream.write(mark)


def is_made_here(folder: RunFolder, config: bytes) -> bool:
    """Return whether `note_made_here` was called for this folder and content."""
    with suppress(OSError):
        noted, mark = folder.made_here_file.read_bytes(), _mark(folder, config)
        return mark is not None and hmac.compare_digest(noted, mark)
    return False


def is_own(folder: RunFolder) -> bool:
    """Return whether this user made a run here, and its ``config.py`` is as it was."""
    with suppress(OSError):
        return is_made_here(folder, read_regular(folder.config_file))
    return False


def _mark(folder: RunFolder, config: bytes) -> bytes | None:
    """Return what is noted; None if there is no key."""
    key = _key(Path(os.environ.get(STATE) or "~/.local/state").expanduser() / "aisprompt" / "key")
    if key is None:
        return None
    root = os.fsencode(folder.root.resolve())
    return hmac.new(key, root + b"\0" + config, hashlib.sha256).hexdigest().encode() + b"\n"


@cache
def _key(path: Path) -> bytes | None:
    """Return the key of this user, which is made with the first run; None if it cannot be kept."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = path.with_name(f"key.{secrets.token_hex(8)}")
        try:
            if not path.exists():
                descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(secrets.token_bytes(KEY_BYTES))
                with suppress(FileExistsError):  # another process was faster
                    os.link(own, path)
        finally:
            own.unlink(missing_ok=True)
        key = path.read_bytes()
        return key if len(key) == KEY_BYTES else None
    return None
