"""Messages between processes: 4 bytes of length, then JSON; and values as JSON.

Plain values travel by value, all others by a reference to an object that stays where it is. JSON scalars are
themselves; everything else is a pair of a tag and its content. Reading such a message runs no code of its sender.
"""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Callable, Iterable
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


ToReference = Callable[[Any], list[Any]]
FromReference = Callable[[str, Any], Any]

_SMALL: Final = 2**53
_COLLECTIONS: Final[dict[str, type]] = {
    kind.__name__: kind
    for kind in (list, tuple, set, frozenset)  # what a list of encoded values makes
}
_AS_TEXT: Final[dict[tuple[str, str], tuple[Callable[[Any], str], str]]] = {
    ("decimal", "Decimal"): (str, ""),
    ("datetime", "date"): (lambda value: str(value.isoformat()), "fromisoformat"),
    ("datetime", "time"): (lambda value: str(value.isoformat()), "fromisoformat"),
    ("datetime", "datetime"): (lambda value: str(value.isoformat()), "fromisoformat"),
}
"""Module and name of a type → how it becomes a text, and the constructor that reads it ("" for the type itself)."""
_BASES: Final[dict[type, Callable[[Any], Any]]] = {
    int: int.__index__, float: float.__float__, str: str.__str__, bytes: bytes, bytearray: bytearray, list: list,
    tuple: tuple, set: set, frozenset: frozenset, dict: dict,
}  # fmt: skip
"""Base type → how a value of a derived type, such as a Counter, becomes one of the base type."""


def encode(value: Any, reference: ToReference) -> Any:
    """Return a value as JSON.

    Args:
        value: any object.
        reference: makes the pair for an object that does not travel by value.
    """
    kind = type(value)
    if value is None or kind in (bool, str, float):
        return value
    if kind is int:
        return value if -_SMALL < value < _SMALL else ["int", hex(value)]
    if kind in _COLLECTIONS.values():
        return [kind.__name__, [encode(item, reference) for item in value]]
    if kind is dict:
        return ["dict", [[encode(key, reference), encode(item, reference)] for key, item in value.items()]]
    return _encode_rare(value, kind, reference)


_Encoder = Callable[[Any, ToReference], Any]
_BUILTINS: Final[dict[type, _Encoder]] = {
    bytes: lambda value, _: ["bytes", value.hex()],
    bytearray: lambda value, _: ["bytearray", value.hex()],
    complex: lambda value, _: ["complex", [value.real, value.imag]],
    range: lambda value, reference: ["range", _encoded((value.start, value.stop, value.step), reference)],
}
_STANDARD: Final[dict[tuple[str, str], _Encoder]] = {
    ("fractions", "Fraction"): lambda value, _: ["fraction", str(value)],
    ("datetime", "timedelta"): lambda value, _: ["timedelta", [value.days, value.seconds, value.microseconds]],
    ("collections", "deque"): lambda value, reference: ["deque", [_encoded(value, reference), value.maxlen]],
}
"""Module and name of a type of the standard library → how a value of it is encoded. The module is not imported."""


def _encode_rare(value: Any, kind: type, reference: ToReference) -> Any:
    origin = (kind.__module__, kind.__qualname__)
    if found := _BUILTINS.get(kind) or _STANDARD.get(origin):
        return found(value, reference)
    if origin in _AS_TEXT:
        return ["text", [*origin, _AS_TEXT[origin][0](value)]]
    if origin[0] == "numpy" and hasattr(value, "item") and not getattr(value, "ndim", 1):
        return encode(value.item(), reference)  # a number of NumPy's
    if isinstance(value, type) and vars(builtins).get(value.__name__, ...) is value:
        return ["builtin", value.__name__]
    for base, convert in _BASES.items():
        if isinstance(value, base):
            return encode(convert(value), reference)
    return reference(value)


def _encoded(values: Iterable[Any], reference: ToReference) -> list[Any]:
    return [encode(value, reference) for value in values]


def decode(data: Any, reference: FromReference) -> Any:
    """Return the value of a JSON text.

    Args:
        data: from `encode` of the other side, which may be hostile.
        reference: gives the object that a tag and its content refer to.

    Raises:
        Exception: of some kind, if the JSON is not a value.
    """
    if data is None or isinstance(data, bool | int | float | str):
        return data
    tag, content = data
    if tag in _COLLECTIONS:
        return _COLLECTIONS[tag](decode(item, reference) for item in content)
    read = _DECODERS.get(tag)
    return reference(tag, content) if read is None else read(content, reference)


def _decode_text(content: Any, reference: FromReference) -> Any:  # noqa: ARG001
    module, name, text = content
    constructor = _AS_TEXT[module, name][1]  # KeyError for any other type
    kind = getattr(__import__(module), name)
    return (getattr(kind, constructor) if constructor else kind)(text)


def _decode_fraction(content: Any, reference: FromReference) -> Any:  # noqa: ARG001
    # Integers only, which Python limits to 4300 digits: a few letters of an exponent would take minutes and gigabytes.
    return __import__("fractions").Fraction(*map(int, content.split("/")))


def _decode_deque(content: Any, reference: FromReference) -> Any:
    items, longest = content
    return __import__("collections").deque((decode(item, reference) for item in items), longest)


_DECODERS: Final[dict[str, Callable[[Any, FromReference], Any]]] = {
    "int": lambda content, _: int(content, 16),
    "dict": lambda content, reference: {decode(key, reference): decode(item, reference) for key, item in content},
    "bytes": lambda content, _: bytes.fromhex(content),
    "bytearray": lambda content, _: bytearray.fromhex(content),
    "complex": lambda content, _: complex(*content),
    "range": lambda content, reference: range(*(decode(part, reference) for part in content)),
    "text": _decode_text,
    "fraction": _decode_fraction,
    "timedelta": lambda content, _: __import__("datetime").timedelta(*content),
    "deque": _decode_deque,
}
"""Tag → how its content is read; `_COLLECTIONS` has the others. Any other tag is a reference."""
