"""Append the output of another program to a log, without secrets. It is a process of its own.

So no secret is ever in the file, and this process works on until the program ends, also after a ``kill -9`` of the
program that started both.

Started as ``python -m ais_prompt.models.server.clean_log LOG``. The first line of its standard input is what
`SecretRegistry.shared` returns, as JSON (`first_line`), the rest is the output.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from ais_prompt.secrets import SECRETS

LONGEST_LINE: Final = 2**16
"""Bytes that wait for the end of their line; a secret in a longer line may be split and missed."""


def first_line() -> bytes:
    """Return what the process reads first."""
    return json.dumps(SECRETS.shared()).encode() + b"\n"


def append(log: Path) -> None:
    """Copy standard input to a log, line by line, to its end. What cannot be written, on a full disk, is dropped."""
    with log.open("ab", buffering=0) as file, open(0, "rb", closefd=False) as output:
        SECRETS.add_shared(*json.loads(output.readline()))
        waiting = b""
        while some := output.read1(LONGEST_LINE):
            waiting += some
            # A progress bar ends its lines with a carriage return.
            end = max(waiting.rfind(b"\n"), waiting.rfind(b"\r")) + 1 or len(waiting) * (len(waiting) > LONGEST_LINE)
            _write(file.fileno(), waiting[:end])
            waiting = waiting[end:]
        _write(file.fileno(), waiting)


def _write(file: int, content: bytes) -> None:
    content = SECRETS.hide_in_message(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    with suppress(OSError):
        while content:
            content = content[os.write(file, content) :]


if __name__ == "__main__":
    append(Path(sys.argv[1]))
