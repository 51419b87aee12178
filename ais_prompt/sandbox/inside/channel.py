"""Messages between processes: 4 bytes of length, then JSON."""

from __future__ import annotations

import json
import os
from typing import Any, Final

LONGEST: Final = 64 * 2**20
"""Bytes of the longest message that is read from a process that may be hostile."""


def send(stream: int, message: Any) -> None:
    """Write a message to a file descriptor.

    Raises:
        OSError: no one reads any more.
        ValueError, RecursionError: the message cannot be written as JSON.
    """
    data = json.dumps(message).encode()
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(stream, data) :]


def receive(stream: int, longest: int = LONGEST) -> Any:
    """Read a message from a file descriptor, and not a byte more.

    Raises:
        EOFError: there is none, or only a part of one.
        ValueError, RecursionError: it is too long, or no JSON.
    """
    length = int.from_bytes(_read(stream, 4), "big")
    if length > longest:
        raise ValueError(f"a message of {length} bytes")
    return json.loads(_read(stream, length))


def _read(stream: int, length: int) -> bytes:
    parts = []
    while length:
        part = os.read(stream, min(length, 2**20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
