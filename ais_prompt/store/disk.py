"""Write files safely: if the disk is full or fails, the earlier content stays."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from ais_prompt.errors import AisPromptError, ConfigError, ModelError, ReadError, StoreError
from ais_prompt.secrets import SECRETS
from ais_prompt.utils import temporary_file

BUFFER_BYTES: Final = 2**16
_FULL: Final = {errno.ENOSPC, errno.EDQUOT}
_DISK_ERRORS: Final = {*_FULL, errno.EIO, errno.EROFS, errno.EFBIG, errno.ESTALE}
_TOO_MANY: Final = {errno.EMFILE, errno.ENFILE}


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an operating system's error while ``path`` is written into a StoreError."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that cannot be written."""
    if error.errno in _FULL:
        what, cure = "no space left on the disk", "free some"
    else:
        what, cure = f"cannot write: {error.strerror or error}", "fix that"
    return StoreError(what, where=str(path), fix=f"everything so far is kept; {cure} and go on with -r")


def system_error(error: BaseException) -> AisPromptError | None:
    """Return the error for a refusal of the system that no other code has foreseen; None for other exceptions.

    Any write can meet a full or broken disk, also those of libraries, and ``close()``, with which NFS reports a quota.
    Any path can be too long, a loop of links, or not allowed; files and memory can run out anywhere.
    """
    if isinstance(error, MemoryError):
        return ModelError("no memory left", fix="use a smaller batch_size or max_concurrency, and go on with -r")
    if isinstance(error, UnicodeError) and sys.getfilesystemencoding().lower() != "utf-8":
        what = f"the locale has no characters for a name: its encoding is {sys.getfilesystemencoding()}"
        return ConfigError(what, fix="set LC_ALL=C.UTF-8, or PYTHONUTF8=1")
    if not isinstance(error, OSError):
        return None
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    if error.errno in _DISK_ERRORS:
        return unwritable(Path(path), error)
    if error.errno in _TOO_MANY:
        return ReadError(f"{error.strerror}", where=path, fix="raise the limit: ulimit -n 4096")
    if error.errno == errno.ENAMETOOLONG:
        return ConfigError(f"cannot use the file: {error.strerror}", where=path, fix="give a shorter name")
    if not path:
        return _missing_folder() if isinstance(error, FileNotFoundError) else None
    return ReadError(f"cannot use the file: {error.strerror}", where=path, fix="check the path and its permissions")


def _missing_folder() -> AisPromptError | None:
    """Return the error for a folder that every process needs and that is not there; None if all are."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return ConfigError("the working directory was removed", fix="go to another folder: cd ~")
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        what = "no folder for temporary files can be written"
        return StoreError(what, fix="free space, raise `ulimit -f`, or set TMPDIR to another folder")
    return None


@contextmanager
def reading(path: Path, fix: str, *, absent: str = "") -> Iterator[None]:
    """Turn an operating system's error while ``path`` is read into an error with this ``fix``.

    Args:
        path: the file.
        fix: how to fix it.
        absent: the meaning of a missing file: the command that makes it was not given yet.

    Raises:
        ConfigError: there is no such file, and ``absent`` says why.
        ReadError: it cannot be read.
    """
    try:
        yield
    except OSError as error:
        if absent and not os.path.lexists(path):
            raise ConfigError(absent, where=str(path), fix=fix) from error
        raise ReadError(f"cannot read: {error.strerror or error}", where=str(path), fix=fix) from error


@contextmanager
def replacing(path: Path, *, json: bool = False, restorable: bool = False, binary: bool = False) -> Iterator[BinaryIO]:
    """Open a binary stream whose content replaces the file ``path`` at the end, whole or not at all.

    The folder is made if needed. If the body raises, ``path`` keeps its earlier content. Secrets that this
    process knows are written as ``***``; with ``json`` the content stays JSON.

    Args:
        path: the file.
        json: whether the content is JSON.
        restorable: whether a resumed run writes the file again, from the journal. Then the file is not synced, and a
            power failure may lose it: a thousand datasets have thousands of files, and each sync takes milliseconds.
        binary: whether the content is no text, such as a compressed file, so that no secret can be found in it. It is
            written unchanged, and must hold only text that was redacted before.

    Raises:
        StoreError: it cannot be written.
    """
    with writing(path):
        with temporary_file(path) as descriptor, open(descriptor, "wb", BUFFER_BYTES, closefd=False) as stream:
            hide = SECRETS.hide_in_json if json else SECRETS.hide_in_bytes
            yield stream if binary else cast("BinaryIO", _WithoutSecrets(stream, hide))
            stream.flush()
            if not restorable:
                os.fsync(descriptor)
        if not restorable:
            _sync_folder(path.parent)


class _WithoutSecrets:
    """A binary stream that hides secrets. A secret must not be split between two writes."""

    def __init__(self, stream: BinaryIO, hide: Callable[[bytes], bytes]) -> None:
        self._stream = stream
        self._hide = hide

    def write(self, content: bytes) -> int:
        self._stream.write(self._hide(content))
        return len(content)

    def writelines(self, lines: Iterable[bytes]) -> None:
        self._stream.writelines(map(self._hide, lines))


def _sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
