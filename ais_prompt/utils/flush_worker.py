"""The worker of `ais_prompt.store.flush`, which flushes files to the disk. It imports little, to start soon."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence


def answer(message: bytes) -> list[bool]:
    """Flush the files whose paths were sent, and return of each whether that worked."""
    paths: Sequence[str] = pickle.loads(message)
    return [_flush(path) for path in paths]


def _flush(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:  # the process that wrote the file tries itself, and reports its error
        return False
    return True


if __name__ == "__main__":
    from ais_prompt.utils.worker import serve

    serve(answer)
