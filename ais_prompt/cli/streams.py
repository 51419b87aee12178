"""Hide secrets in standard output and standard error, from any writer: this program, a library, or Python itself.

A stream that cannot be written ends nothing (`ais_prompt.terminal.steady_output`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TextIO, cast

from ais_prompt.secrets import SECRET_VARIABLE, SECRETS, SHORTEST, secrets_in_url
from ais_prompt.terminal import STDERR_PATIENCE, open_standard_descriptors, standard_stream
from ais_prompt.utils import NARROWEST, WIDEST_TERMINAL

_MOST_DIGITS: Final = 10


@contextmanager
def safe_output() -> Iterator[Callable[[], OSError | None]]:
    """Write to both output streams without secrets: those of the environment, and all that are found later.

    Yields:
        A function that returns why standard output could not be written; None if it was written, or if its reader has
        seen enough (``| head``) or is gone.
    """
    set_usable_size(os.environ)
    register_environment(os.environ)
    open_standard_descriptors()
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115  # None if it was closed
    before = sys.stdout, sys.stderr
    (out, file), (err, _) = standard_stream(sys.stdout, None), standard_stream(sys.stderr, STDERR_PATIENCE)
    sys.stdout, sys.stderr = (cast("TextIO", _WithoutSecrets(stream)) for stream in (out, err))

    def lost() -> OSError | None:
        out.flush()
        return None if file is None or file.is_terminal or isinstance(file.error, BrokenPipeError) else file.error

    try:
        yield lost
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before


def set_usable_size(environment: MutableMapping[str, str]) -> None:
    """Leave out a size of the terminal in which no text fits, such as ``COLUMNS=0`` of a serial console."""
    for name in ("COLUMNS", "LINES"):
        if (size := environment.get(name)) is not None:
            is_number = size.isascii() and size.isdigit() and len(size) < _MOST_DIGITS
            if not is_number or int(size) < NARROWEST:
                del environment[name]
            elif int(size) > WIDEST_TERMINAL:
                environment[name] = str(WIDEST_TERMINAL)


def register_environment(environment: Mapping[str, str]) -> None:
    """Hide the keys and tokens of the environment, and the logins in its URLs (``HTTPS_PROXY``)."""
    for name, value in environment.items():
        if "://" in value or name.lower().endswith("_proxy"):
            login, at, _ = value.rpartition("@")
            found = secrets_in_url(f"http://{login.rpartition('://')[2]}@") if at else ()
            SECRETS.add(*(secret for secret in found if len(secret) >= SHORTEST))
        elif len(value) >= SHORTEST and SECRET_VARIABLE.fullmatch(name):
            SECRETS.add(value.strip())


class _WithoutSecrets:
    """A text stream that hides secrets; each must be within what is written at once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(SECRETS.hide(text))
        return len(text)

    @property
    def buffer(self) -> BinaryIO:
        """The stream beneath, for bytes."""
        return cast("BinaryIO", _BytesWithoutSecrets(self._stream.buffer))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _BytesWithoutSecrets:
    """A stream of bytes that hides secrets; what is printed as bytes is JSON."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, content: bytes) -> int:
        self._stream.write(SECRETS.hide_in_json(bytes(content)))
        return len(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
