"""Digests of values and files: the keys of resume, and the proof of what was read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def digest(value: Any, length: int = 32) -> str:
    """The first ``length`` hex digits of the SHA-256 of a value's canonical JSON.

    Values that JSON does not know are written as their `repr`-like `str`; keys are sorted, so the order of a
    mapping does not matter.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    # Lone surrogates can stand in real data; they must not break the digest.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
