"""Digests of values and files: the keys of resume, and the proof of what was read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any, Final

from pydantic_core import to_json

_ALIKE: Final = {str, int, bool, NoneType}
"""Types that pydantic-core writes exactly as `json` does, and much faster; floats are not among them."""
_TEXT: Final = {str}
# One for all: making it takes as long as encoding a small value.
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def digest(value: Any, length: int = 32) -> str:
    """The first ``length`` hex digits of the SHA-256 of a value's canonical JSON."""
    return text_digest(canonical(value), length)


def canonical(value: Any) -> str:
    """The JSON of a value that is the same for equal values: keys are sorted, there is no space between.

    Values that JSON does not know are written as their `repr`-like `str`.
    """
    try:
        return to_json(_sorted(value)).decode()
    except (TypeError, ValueError):  # another type, or a lone surrogate
        return _ENCODER.encode(value)


def _sorted(value: Any) -> Any:
    """The same with sorted keys; TypeError if something in it is not written alike."""
    kind = type(value)
    if kind in _ALIKE:
        return value
    if kind is dict and _TEXT.issuperset(map(type, value)):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if kind is list or kind is tuple:
        return [_sorted(item) for item in value]
    raise TypeError(kind)


def text_digest(text: str, length: int = 32) -> str:
    """The first ``length`` hex digits of the SHA-256 of a text."""
    return hashlib.sha256(_bytes(text)).hexdigest()[:length]


def digest_of_list(values: Iterable[Any], length: int = 32) -> str:
    """`digest` of the list of these values, which never are in memory together."""
    found, left, separator = hashlib.sha256(b"["), iter(values), ""
    while some := list(islice(left, 1000)):
        found.update(_bytes(separator + canonical(some)[1:-1]))
        separator = ","
    found.update(b"]")
    return found.hexdigest()[:length]


def _bytes(text: str) -> bytes:
    # Lone surrogates can stand in real data; they must not break the digest.
    return text.encode("utf-8", "surrogatepass")


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
