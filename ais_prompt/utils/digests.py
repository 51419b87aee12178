"""Compute digests of values and files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any, Final

import msgspec

_ALIKE: Final = {str, int, bool, NoneType}
"""Types that msgspec writes exactly as `json` does, only faster. Floats are written differently."""
_TEXT: Final = {str}
# Shared encoders: creating one takes as long as encoding a small value.
_FAST_ENCODER = msgspec.json.Encoder(order="sorted")
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def digest(value: Any, length: int = 32) -> str:
    """Return the first ``length`` hex digits of the SHA-256 of a value's canonical JSON."""
    return text_digest(canonical(value), length)


def canonical(value: Any) -> str:
    """Return the JSON of a value, equal for equal values: keys are sorted, without spaces.

    Values that JSON does not know are written as their `repr`-like `str`.
    """
    if _is_written_alike(value):
        with suppress(ValueError):  # a lone surrogate
            return _FAST_ENCODER.encode(value).decode()
    return _ENCODER.encode(value)


def _is_written_alike(value: Any) -> bool:
    """Return whether msgspec writes a value exactly as `json` does."""
    kind = type(value)
    if kind in _ALIKE:
        return True
    if kind is dict:
        return _TEXT.issuperset(map(type, value)) and _are_written_alike(value.values())
    return (kind is list or kind is tuple) and _are_written_alike(value)


def _are_written_alike(values: Collection[Any]) -> bool:
    # Rows and messages hold texts and numbers only: a call for each of them would take most of the time.
    return _ALIKE.issuperset(map(type, values)) or all(map(_is_written_alike, values))


def text_digest(text: str, length: int = 32) -> str:
    """Return the first ``length`` hex digits of the SHA-256 of a text."""
    # Real data can contain lone surrogates; they must not break the digest.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def digest_of_list(values: Iterable[Any], length: int = 32) -> str:
    """Return the `digest` of a list of values without holding the list in memory."""
    found, left, separator = hashlib.sha256(b"["), iter(values), ""
    while some := list(islice(left, 1000)):
        found.update(f"{separator}{canonical(some)[1:-1]}".encode("utf-8", "surrogatepass"))
        separator = ","
    found.update(b"]")
    return found.hexdigest()[:length]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
